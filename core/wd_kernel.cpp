#include "wd_kernel.h"

#include <algorithm>
#include <stdexcept>

#include "simd/simd.h"
#include "wd_store.h"
#include "wd_tries.h"

namespace kw {

int64_t WdParameters::largest_shift() const {
  return shifts.empty() ? 0 : *std::max_element(shifts.begin(), shifts.end());
}

bool WdParameters::uniform_shift() const {
  return std::all_of(shifts.begin(), shifts.end(), [&](int64_t s) { return s == shifts.front(); });
}

double WdParameters::shift_weight(int64_t shift) const {
  return shift == 0 ? 1.0 : 1.0 / (2.0 * double(std::abs(shift) + 1));
}

bool WdParameters::allows(int64_t i, int64_t shift) const {
  return shift == 0 || (i >= 0 && i < int64_t(shifts.size()) && std::abs(shift) <= shifts[i]);
}

namespace {

struct WdRows : Rows {
  std::vector<uint64_t> words;
};

const PlaneTable& sequences(const Table& table) { return table_as<PlaneTable>(table); }

// Bit p of the result is bit p + shift of the source, zero from outside.
void shift_bits(const uint64_t* source, int64_t words, int64_t shift, uint64_t* out) {
  const int64_t jump = shift >= 0 ? shift / 64 : -((63 - shift) / 64), bits = shift - 64 * jump;
  auto word = [&](int64_t w) { return w >= 0 && w < words ? source[w] : 0; };
  for (int64_t w = 0; w < words; ++w)
    out[w] = word(w + jump) >> bits | (word(w + jump + 1) << 1) << (63 - bits);
}

// The positions of word w that lie inside a sequence.
uint64_t inside(int64_t length, int64_t w) {
  const int64_t left = length - 64 * w;
  return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
}

// The letters of a sequence that are known, the end of its last word left out.
void known_letters(const PlaneTable& a, int64_t i, uint64_t* out) {
  for (int64_t w = 0; w < a.words; ++w) {
    out[w] = inside(a.length, w);
    if (a.masked) out[w] &= ~a.unknown(i)[w];
  }
}

// Columns side by side in groups, as the vectorised loop reads them.
void pack_columns(const PlaneTable& b, int64_t j0, int64_t j1, std::vector<uint64_t>& out) {
  const int64_t words = b.planes * b.words, all = words + (b.masked ? b.words : 0);
  out.assign(static_cast<size_t>((j1 - j0 + kWdGroup - 1) / kWdGroup * kWdGroup * all), 0);
  std::vector<uint64_t> known(b.words);
  for (int64_t j = j0; j < j1; ++j) {
    uint64_t* group = out.data() + (j - j0) / kWdGroup * kWdGroup * all + (j - j0) % kWdGroup;
    for (int64_t w = 0; w < words; ++w) group[w * kWdGroup] = b.letters(j)[w];
    if (!b.masked) continue;
    known_letters(b, j, known.data());
    for (int64_t w = 0; w < b.words; ++w) group[(words + w) * kWdGroup] = known[w];
  }
}

std::vector<int64_t> shifts_of_rows(int64_t largest) {
  std::vector<int64_t> passes = {0};
  for (int64_t s = 1; s <= largest; ++s) passes.insert(passes.end(), {s, -s});
  return passes;
}

}  // namespace

WdKernel::WdKernel(WdParameters given, int64_t length)
    : parameters(std::move(given)),
      length(length),
      passes_(shifts_of_rows(parameters.largest_shift())) {
  const int64_t words = words_for(length);
  for (int64_t shift : passes_)
    for (double weight : parameters.weights)
      weights_.push_back(parameters.shift_weight(shift) * weight);
  if (parameters.uniform_shift()) return;
  starts_.assign(passes_.size() * words, 0);
  for (size_t s = 0; s < passes_.size(); ++s)
    for (int64_t p = 0; p < length; ++p)
      if (parameters.allows(std::min(p, p + passes_[s]), passes_[s]))
        starts_[s * words + p / 64] |= uint64_t{1} << (p % 64);
}

int64_t WdKernel::planes() const {
  switch (parameters.value) {
    case WdValue::kDegrees:
      return parameters.degree();
    case WdValue::kPositions:
      return length;
    case WdValue::kBoth:
      return length * parameters.degree();
    default:
      return 1;
  }
}

int64_t WdKernel::plane_of(int64_t p, int64_t k) const {
  switch (parameters.value) {
    case WdValue::kDegrees:
      return k;
    case WdValue::kPositions:
      return p;
    case WdValue::kBoth:
      return k * length + p;
    default:
      return 0;
  }
}

// Nanoseconds of one pair and pass, as measured on AVX2.
double WdKernel::pair_cost() const {
  switch (parameters.value) {
    case WdValue::kDegrees:
      return 30.0;
    case WdValue::kPositions:
    case WdValue::kBoth:
      return 200.0;
    default:
      return 9.0;
  }
}

std::shared_ptr<const Quantity> WdKernel::combined(const double* planes) const {
  if (parameters.value != WdValue::kSum && parameters.value != WdValue::kDegrees) return nullptr;
  WdParameters sum = parameters;
  sum.value = WdValue::kSum;
  for (int64_t k = 0; k < parameters.degree(); ++k) sum.weights[k] *= planes[plane_of(0, k)];
  return std::make_shared<WdKernel>(std::move(sum), length);
}

std::unique_ptr<Sums> WdKernel::sums(const Table& a, const int64_t* rows, const double* factors,
                                     int64_t count, int64_t columns, int threads,
                                     const double* planes) const {
  if (parameters.degree() > WdStore::kMaxDegree || parameters.store == StoreKind::kRows)
    return nullptr;
  const double by_rows = pair_cost() * double(n_passes()) * double(count) * double(columns);
  const bool cheaper = WdStore::cost(*this, sequences(a), count, columns) < by_rows;
  if (!cheaper && parameters.store == StoreKind::kAuto) return nullptr;
  auto store = std::make_unique<WdStore>(*this, planes);
  store->add(a, rows, factors, count);
  store->settle(threads);
  return store;
}

std::unique_ptr<Product> WdKernel::product(const Table& a, int64_t bytes, int threads) const {
  const PlaneTable& table = sequences(a);
  const bool served = parameters.store != StoreKind::kRows && WdTries::serves(*this, table);
  if (!served || WdTries::bytes(table) > bytes) return nullptr;
  return std::make_unique<WdTries>(*this, table, threads);
}

int64_t WdKernel::row_bytes(const Table& a) const {
  const PlaneTable& table = sequences(a);
  return int64_t(passes_.size()) * (table.planes + 1) * table.words * int64_t(sizeof(uint64_t));
}

double WdKernel::reads(const Table&) const {
  return parameters.value == WdValue::kSum ? 10.0 : 0.0;
}

void WdKernel::pack_row(const PlaneTable& a, int64_t i, uint64_t* out) const {
  thread_local std::vector<uint64_t> known;
  known.resize(a.words);
  known_letters(a, i, known.data());
  for (int64_t shift : passes_) {
    for (int64_t plane = 0; plane < a.planes; ++plane, out += a.words)
      shift_bits(a.letters(i) + plane * a.words, a.words, shift, out);
    shift_bits(known.data(), a.words, shift, out);
    // Letters of the column that lie behind its end must not match.
    for (int64_t w = 0; w < a.words; ++w) *out++ &= inside(a.length, w);
  }
}

void WdKernel::check(const Table& a, const Table& b) const {
  if (sequences(a).length != length || sequences(b).length != length)
    throw std::invalid_argument("the weighted degree kernel compares sequences of one length only");
  check_planes(sequences(a), sequences(b));
}

std::unique_ptr<Rows> WdKernel::pack(const Table& a, const int64_t* rows, int64_t count,
                                     const Table&) const {
  const PlaneTable& table = sequences(a);
  auto pack = std::make_unique<WdRows>();
  const int64_t row_words = row_bytes(a) / int64_t(sizeof(uint64_t));
  pack->words.resize(count * row_words);
  for (int64_t r = 0; r < count; ++r) pack_row(table, rows[r], pack->words.data() + r * row_words);
  return pack;
}

WdTile WdKernel::describe(const PlaneTable& b) const {
  WdTile tile = {};
  tile.words = b.words;
  tile.planes = b.planes;
  tile.degree = parameters.degree();
  tile.passes = int64_t(passes_.size());
  tile.masked = b.masked;
  tile.value = parameters.value;
  tile.length = length;
  tile.weights = weights_.data();
  tile.starts = starts_.empty() ? nullptr : starts_.data();
  return tile;
}

void WdKernel::tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0,
                    int64_t j1, TileOut out) const {
  const PlaneTable& table = sequences(b);
  thread_local std::vector<uint64_t> columns;
  pack_columns(table, j0, j1, columns);
  WdTile tile = describe(table);
  tile.rows =
      static_cast<const WdRows&>(rows).words.data() + r0 * row_bytes(b) / int64_t(sizeof(uint64_t));
  tile.columns = columns.data();
  tile.n_rows = r1 - r0;
  tile.n_columns = j1 - j0;
  tile.out = out.data;
  tile.row_stride = out.row_stride;
  tile.plane_stride = out.plane_stride;
  if (tile.value != WdValue::kSum)
    for (int64_t p = 0; p < planes(); ++p)
      for (int64_t r = 0; r < r1 - r0; ++r)
        std::fill_n(out.row(r) + p * out.plane_stride, j1 - j0, 0.0);
  simd().wd->tile(tile);
}

// Each sequence against itself, a group of them at a time.
void WdKernel::diagonal_of_sum(const PlaneTable& a, double* out) const {
  const int64_t row_words = row_bytes(a) / int64_t(sizeof(uint64_t));
  std::vector<uint64_t> row(row_words), rows(row_words * kWdGroup), columns;
  WdTile tile = describe(a);
  tile.paired = true;
  tile.rows = rows.data();
  for (int64_t i = 0; i < a.n; i += kWdGroup) {
    tile.n_rows = tile.n_columns = std::min(a.n - i, kWdGroup);
    for (int64_t lane = 0; lane < tile.n_rows; ++lane) {
      pack_row(a, i + lane, row.data());
      for (int64_t w = 0; w < row_words; ++w) rows[w * kWdGroup + lane] = row[w];
    }
    pack_columns(a, i, i + tile.n_columns, columns);
    tile.columns = columns.data();
    tile.out = out + i;
    simd().wd->tile(tile);
  }
}

void WdKernel::diagonal(const Table& a, double* out) const {
  const PlaneTable& table = sequences(a);
  // A sequence without unknown letters and shifts matches itself everywhere: all have the same
  // values.
  const bool same = !table.masked && passes_.size() == 1;
  if (parameters.value == WdValue::kSum && !same) return diagonal_of_sum(table, out);
  for (int64_t i = 0; i < table.n; ++i) {
    if (same && i > 0)
      for (int64_t p = 0; p < planes(); ++p) out[p * table.n + i] = out[p * table.n];
    else
      tile(*pack(a, &i, 1, a), 0, 1, a, i, i + 1, {out + i, 1, table.n});
  }
}

}  // namespace kw

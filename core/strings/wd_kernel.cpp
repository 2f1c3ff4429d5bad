#include "strings/wd_kernel.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include "simd/simd.h"
#include "stores/wd_store.h"
#include "strings/wd_tries.h"
#include "system/recycled.h"
#include "system/team.h"

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

constexpr int64_t kPassBytes = 1 << 18;  // bytes of shifted rows that fit in the cache
// Words compared between two checks for interrupts, approximately.
constexpr int64_t kMostSteps = 1 << 26;
// Numbers in the tables of a kernel, whose size is quadratic in long shifts: 4 GB.
constexpr double kMostNumbers = 1 << 29;

struct WdRows : Rows {
  std::vector<uint64_t> words;  // per row: planes, then the mask of known letters
};

// Bit p of the result is bit p + shift of the source, or zero outside of it.
void shift_bits(const uint64_t* source, int64_t words, int64_t shift, uint64_t* out) {
  const int64_t jump = shift >= 0 ? shift / 64 : -((63 - shift) / 64), bits = shift - 64 * jump;
  auto word = [&](int64_t w) { return w >= 0 && w < words ? source[w] : 0; };
  for (int64_t w = 0; w < words; ++w)
    out[w] = word(w + jump) >> bits | (word(w + jump + 1) << 1) << (63 - bits);
}

// Mask of the positions of word w that are inside a sequence.
uint64_t inside(int64_t length, int64_t w) {
  const int64_t left = length - 64 * w;
  return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
}

// Mask of the known letters of a sequence; bits after its end are 0.
void known_letters(const PlaneTable& a, int64_t i, uint64_t* out) {
  for (int64_t w = 0; w < a.words; ++w) {
    out[w] = inside(a.length, w);
    if (a.masked) out[w] &= ~a.unknown(i)[w];
  }
}

// Number of columns, rounded up to whole groups.
int64_t padded(int64_t columns) { return (columns + kWdGroup - 1) / kWdGroup * kWdGroup; }

// Copies columns to groups, the layout that the vectorised loop reads.
void pack_columns(const PlaneTable& b, int64_t j0, int64_t j1, std::vector<uint64_t>& out) {
  const int64_t words = b.planes * b.words, all = words + (b.masked ? b.words : 0);
  out.assign(static_cast<size_t>(padded(j1 - j0) * all), 0);
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
  check_size();
  for (int64_t shift : passes_)
    for (double weight : parameters.weights)
      weights_.push_back(parameters.shift_weight(shift) * weight);
  if (positional()) weigh_places();
  for (int64_t p = -parameters.largest_shift(); p < length; ++p)
    planes_.push_back(plane_of(std::max<int64_t>(p, 0), 0));
  if (!parameters.uniform_shift()) mark_starts();
}

void WdKernel::check_size() const {
  const double words = double(words_for(length)), passes = double(n_passes());
  const double masks = parameters.uniform_shift() ? 0.0 : passes * words;
  const double each = positional() ? double(length) + words * double(kWdPlaceSums) : 0.0;
  if (masks + passes * double(parameters.degree()) * each <= kMostNumbers) return;
  throw std::invalid_argument(
      "WeightedDegreeShift: shifts of up to " + std::to_string(parameters.largest_shift()) +
      " letters that depend on the position, or with weights of positions, need tables of more "
      "than 4 GB; take shorter shifts");
}

// Positions of the second sequence, one mask for each pass. The first position of a match, of both
// sequences, allows the shift.
void WdKernel::mark_starts() {
  const int64_t words = words_for(length);
  const std::span<const int64_t> shifts(parameters.shifts.data(),
                                        std::min<size_t>(parameters.shifts.size(), length));
  std::vector<int64_t> nearest(shifts.size());  // positions, by their largest shift
  std::iota(nearest.begin(), nearest.end(), 0);
  std::stable_sort(nearest.begin(), nearest.end(),
                   [&](int64_t i, int64_t j) { return shifts[i] < shifts[j]; });
  std::vector<uint64_t> allowed(words, 0);
  for (int64_t i : nearest) allowed[i / 64] |= uint64_t{1} << (i % 64);
  starts_.assign(passes_.size() * words, 0);
  for (int64_t w = 0; w < words; ++w) starts_[w] = inside(length, w);
  auto next = nearest.begin();
  for (size_t s = 1; s < passes_.size(); ++s) {  // passes_: 0, 1, -1, 2, -2, ...
    for (; next != nearest.end() && shifts[*next] < std::abs(passes_[s]); ++next)
      allowed[*next / 64] &= ~(uint64_t{1} << (*next % 64));
    uint64_t* here = starts_.data() + s * words;
    shift_bits(allowed.data(), words, std::min<int64_t>(passes_[s], 0), here);
    for (int64_t w = 0; w < words; ++w) here[w] &= inside(length, w);
    check_interrupt();
  }
}

bool WdKernel::positional() const { return !parameters.places.empty(); }

void WdKernel::weigh_places() {
  const int64_t rows = n_passes() * parameters.degree(), words = words_for(length);
  places_.reserve(rows * length);
  for (int64_t shift : passes_)
    for (int64_t k = 0; k < parameters.degree(); ++k) {
      for (int64_t p = 0; p < length; ++p) {
        const int64_t first = std::max<int64_t>(std::min(p, p + shift), 0);
        places_.push_back(parameters.shift_weight(shift) * parameters.weight(first, k));
      }
      check_interrupt();
    }
  sums_.assign(rows * words * kWdPlaceSums, 0.0);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t p = 0; p < length; ++p)
      for (int64_t bits = 0; bits < 8; ++bits)
        if (bits >> (p % 64 % 3) & 1)
          sums_[(row * words + p / 64) * kWdPlaceSums + p % 64 / 3 * 8 + bits] +=
              places_[row * length + p];
    check_interrupt();
  }
}

int64_t WdKernel::planes() const {
  const std::vector<int64_t>& groups = parameters.groups;
  switch (parameters.value) {
    case WdValue::kDegrees:
      return parameters.degree();
    case WdValue::kPositions:
      return groups.empty() ? length : 1 + *std::max_element(groups.begin(), groups.end());
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
      return parameters.groups.empty() ? p : parameters.groups[p];
    case WdValue::kBoth:
      return k * length + p;
    default:
      return 0;
  }
}

// Nanoseconds per pair and pass, measured on AVX2.
double WdKernel::pair_cost() const {
  switch (parameters.value) {
    case WdValue::kDegrees:
      return 30.0;
    case WdValue::kPositions:
    case WdValue::kBoth:
      return 200.0;
    default:
      return positional() ? 30.0 : 9.0;
  }
}

std::shared_ptr<const Quantity> WdKernel::combined(const double* planes) const {
  WdParameters sum = parameters;
  sum.value = WdValue::kSum;
  sum.groups.clear();
  if (parameters.value == WdValue::kSum || parameters.value == WdValue::kDegrees) {
    for (int64_t k = 0; k < parameters.degree(); ++k) sum.weights[k] *= planes[plane_of(0, k)];
    return std::make_shared<WdKernel>(std::move(sum), length);
  }
  sum.places.resize(length * parameters.degree(), 1.0);
  for (int64_t p = 0; p < length; ++p)
    for (int64_t k = 0; k < parameters.degree(); ++k) {
      const int64_t plane = plane_of(p, k);
      sum.places[p * parameters.degree() + k] *= plane < 0 ? 0.0 : planes[plane];
    }
  return std::make_shared<WdKernel>(std::move(sum), length);
}

std::unique_ptr<Sums> WdKernel::sums(const Table& a, const SumRequest& request) const {
  const int64_t count = int64_t(request.rows.size()), columns = request.columns;
  if (parameters.degree() > WdStore::kMaxDegree || parameters.store == StoreKind::kRows)
    return nullptr;
  const bool apart = parameters.value == WdValue::kPositions || parameters.value == WdValue::kBoth;
  // A store adds up all shifted copies of a sequence at a position, so that their matches cannot
  // have different weights or planes.
  if (n_passes() > 1 && (positional() || apart)) return nullptr;
  if (!parameters.groups.empty() && !request.planes) return nullptr;
  const double by_rows = pair_cost() * double(n_passes()) * double(count) * double(columns);
  const bool cheaper = WdStore::cost(*this, planes_of(a), count, columns) < by_rows;
  if (!cheaper && parameters.store == StoreKind::kAuto) return nullptr;
  auto store = std::make_unique<WdStore>(*this, request.planes);
  store->add(a, request.rows, request.factors);
  store->prepare(request.threads);
  return store;
}

std::unique_ptr<Store> WdKernel::make_store(int64_t) const {
  return std::make_unique<WdStore>(*this, nullptr);
}

ProductCosts WdKernel::product_costs(const Table& a) const {
  return {.cheap = parameters.store != StoreKind::kRows && WdTries::serves(*this, planes_of(a)),
          .bytes = WdTries::bytes(planes_of(a)),
          .keeps_parts = true};
}

std::unique_ptr<Product> WdKernel::product(const Table& a, int64_t room, int threads) const {
  if (!product_costs(a).cheap) return nullptr;
  return std::make_unique<WdTries>(*this, planes_of(a), room, threads);
}

int64_t WdKernel::row_bytes(const Table& a) const {
  const PlaneTable& table = planes_of(a);
  return (table.planes + 1) * table.words * int64_t(sizeof(uint64_t));
}

double WdKernel::reads(const Table&) const {
  return parameters.value == WdValue::kSum ? 10.0 : 0.0;
}

void WdKernel::check(const Table& a, const Table& b) const {
  if (planes_of(a).length != length || planes_of(b).length != length)
    throw std::invalid_argument("the weighted degree kernel compares sequences of one length only");
  check_planes(planes_of(a), planes_of(b));
}

std::unique_ptr<Rows> WdKernel::pack(const Table& a, IdSpan rows, const Table&) const {
  const PlaneTable& table = planes_of(a);
  auto pack = std::make_unique<WdRows>();
  const int64_t letters = table.planes * table.words, row_words = letters + table.words;
  pack->words.resize(rows.size() * row_words);
  for (size_t r = 0; r < rows.size(); ++r) {
    uint64_t* row = pack->words.data() + r * row_words;
    std::copy_n(table.letters(rows[r]), letters, row);
    known_letters(table, rows[r], row + letters);
  }
  return pack;
}

void WdKernel::shift_row(const PlaneTable& a, const uint64_t* row, int64_t s0, int64_t s1,
                         uint64_t* out) const {
  for (int64_t s = s0; s < s1; ++s) {
    for (int64_t plane = 0; plane <= a.planes; ++plane, out += a.words)
      shift_bits(row + plane * a.words, a.words, passes_[s], out);
    // Letters after the end of the column must not match.
    uint64_t* known = out - a.words;
    for (int64_t w = 0; w < a.words; ++w) known[w] &= inside(a.length, w);
  }
}

WdTile WdKernel::describe(const PlaneTable& b) const {
  WdTile tile = {};
  tile.words = b.words;
  tile.planes = b.planes;
  tile.degree = parameters.degree();
  tile.masked = b.masked;
  tile.value = parameters.value;
  tile.length = length;
  return tile;
}

template <std::invocable<int64_t, int64_t> Shifted>
void WdKernel::run_passes(WdTile tile, Shifted&& shifted) const {
  thread_local Buffer<uint64_t> matches;
  matches.resize(tile.words * kWdGroup);
  tile.matches = matches.data();
  const int64_t words = (tile.planes + 1) * tile.words * (tile.paired ? kWdGroup : tile.n_rows);
  const int64_t some =
      std::clamp<int64_t>(kPassBytes / int64_t(sizeof(uint64_t)) / words, 1, n_passes());
  for (int64_t s0 = 0; s0 < n_passes(); s0 += some) {
    const int64_t s1 = std::min(n_passes(), s0 + some);
    tile.passes = s1 - s0;
    tile.weights = weights_.data() + s0 * tile.degree;
    tile.places = places_.empty() ? nullptr : places_.data() + s0 * tile.degree * length;
    tile.place_sums = sums_.data() + s0 * tile.degree * tile.words * kWdPlaceSums;
    tile.shifts = passes_.data() + s0;
    tile.plane_of = planes_.data() + parameters.largest_shift();
    tile.starts = starts_.empty() ? nullptr : starts_.data() + s0 * tile.words;
    tile.rows = shifted(s0, s1);
    tile.add = s0 > 0;
    simd().wd->tile(tile);
    check_interrupt();
  }
}

void WdKernel::tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0,
                    int64_t j1, TileOut out) const {
  const PlaneTable& table = planes_of(b);
  thread_local std::vector<uint64_t> columns;
  thread_local Buffer<uint64_t> shifted;
  pack_columns(table, j0, j1, columns);
  if (parameters.value != WdValue::kSum)
    for (int64_t p = 0; p < planes(); ++p)
      for (int64_t r = 0; r < r1 - r0; ++r)
        std::fill_n(out.row(r) + p * out.plane_stride, j1 - j0, 0.0);
  WdTile tile = describe(table);
  tile.row_stride = out.row_stride;
  tile.plane_stride = out.plane_stride;
  const int64_t row_words = (table.planes + 1) * table.words;
  const int64_t pairs = std::max<int64_t>(kMostSteps / (table.words * tile.degree), kWdGroup);
  const int64_t width = std::min(j1 - j0, pairs / kWdGroup * kWdGroup);
  const int64_t height = std::min(r1 - r0, std::max<int64_t>(pairs / width, 1));
  for (int64_t j = 0; j < j1 - j0; j += width)
    for (int64_t r = r0; r < r1; r += height) {
      const uint64_t* packed = static_cast<const WdRows&>(rows).words.data() + r * row_words;
      tile.columns = columns.data() + j * int64_t(columns.size()) / padded(j1 - j0);
      tile.n_rows = std::min(height, r1 - r);
      tile.n_columns = std::min(width, j1 - j0 - j);
      tile.out = out.row(r - r0) + j;
      run_passes(tile, [&](int64_t s0, int64_t s1) -> const uint64_t* {
        if (n_passes() == 1) return packed;
        shifted.resize(tile.n_rows * (s1 - s0) * row_words);
        for (int64_t i = 0; i < tile.n_rows; ++i)
          shift_row(table, packed + i * row_words, s0, s1,
                    shifted.data() + i * (s1 - s0) * row_words);
        return shifted.data();
      });
    }
}

// Compares each sequence with itself, a group of sequences at a time.
void WdKernel::diagonal_of_sum(const PlaneTable& a, double* out) const {
  const int64_t row_words = (a.planes + 1) * a.words;
  std::vector<uint64_t> row, rows, columns;
  WdTile tile = describe(a);
  tile.paired = true;
  for (int64_t i = 0; i < a.n; i += kWdGroup) {
    tile.n_rows = tile.n_columns = std::min(a.n - i, kWdGroup);
    std::array<int64_t, kWdGroup> ids;
    std::iota(ids.begin(), ids.end(), i);
    const auto packed = pack(a, {ids.data(), size_t(tile.n_rows)}, a);
    const uint64_t* words = static_cast<const WdRows&>(*packed).words.data();
    pack_columns(a, i, i + tile.n_columns, columns);
    tile.columns = columns.data();
    tile.out = out + i;
    run_passes(tile, [&](int64_t s0, int64_t s1) {
      row.resize((s1 - s0) * row_words);
      rows.assign(row.size() * kWdGroup, 0);
      for (int64_t lane = 0; lane < tile.n_rows; ++lane) {
        shift_row(a, words + lane * row_words, s0, s1, row.data());
        for (size_t w = 0; w < row.size(); ++w) rows[w * kWdGroup + lane] = row[w];
      }
      return rows.data();
    });
  }
}

void WdKernel::diagonal(const Table& a, double* out) const {
  const PlaneTable& table = planes_of(a);
  // Without unknown letters and shifts a sequence matches itself everywhere: all diagonal values
  // are equal.
  const bool same = !table.masked && passes_.size() == 1;
  if (parameters.value == WdValue::kSum && !same) return diagonal_of_sum(table, out);
  for (int64_t i = 0; i < table.n; ++i) {
    if (same && i > 0)
      for (int64_t p = 0; p < planes(); ++p) out[p * table.n + i] = out[p * table.n];
    else
      tile(*pack(a, {&i, 1}, a), 0, 1, a, i, i + 1, {out + i, 1, table.n});
  }
}

}  // namespace kw

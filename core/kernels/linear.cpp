#include "kernels/linear.h"

#include <algorithm>
#include <concepts>

#include "kernels/products.h"
#include "system/recycled.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kColumns = 65536;  // maximum number of columns that a thread looks up at a time,
constexpr int64_t kValues = int64_t{1} << 24;     // and maximum number of their values
constexpr int64_t kBlock = 64;                    // rows and columns of a tile of a block
constexpr int64_t kPackBytes = int64_t{1} << 26;  // bytes of rows packed at a time

using Terms = std::vector<LinearTerm>;

LinearTerm plane_term(const Program& program, int32_t plane) {
  int32_t source = 0;
  while (plane >= program.sources()[source]->planes())
    plane -= int32_t(program.sources()[source++]->planes());
  return {0, source, plane, 1.0, {}};
}

bool constant(const Array<double>& values, int64_t n) {
  return std::all_of(values.data, values.data + n, [&](double v) { return v == values[0]; });
}

// A normalisation with the same value for all examples becomes a factor of the term.
void fold_constants(LinearTerm& term, const Side& a, const Side& b) {
  std::vector<int32_t> varying;
  for (int32_t slot : term.slots) {
    const bool same =
        a.n && b.n && constant(a.vectors[slot], a.n) && constant(b.vectors[slot], b.n);
    if (same)
      term.factor *= a.vectors[slot][0] * b.vectors[slot][0];
    else
      varying.push_back(slot);
  }
  term.slots = std::move(varying);
}

// The sum of kernels without weight: 0.
struct NoSums : Sums {
  void lookup(const Table&, int64_t, int64_t, double*, int64_t) const override {}
};

// Calls f(j0, j1) for ranges of columns in parallel. Each call passes over a whole weight store, so
// that ranges are few and large, with equally many for every thread.
template <std::invocable<int64_t, int64_t> Work>
void for_columns(int64_t n, int64_t planes, int threads, Work&& work) {
  const int64_t most = std::clamp<int64_t>(kValues / planes, 1024, kColumns);
  const int64_t parts = (n + most * threads - 1) / (most * threads) * threads;
  const int64_t width = std::max<int64_t>((n + parts - 1) / parts, 1024);
  run_team(threads, (n + width - 1) / width,
           [&](int64_t t, int) { work(t * width, std::min(n, (t + 1) * width)); });
}

}  // namespace

std::optional<std::vector<LinearTerm>> linear_terms(const Program& program) {
  std::vector<Terms> stack;
  Terms found;
  int64_t kernel = 0;
  for (const Instruction& i : program.code()) {
    switch (i.op) {
      case Op::Copy:
        stack.push_back({plane_term(program, i.arg)});
        break;
      case Op::Scale:
        for (LinearTerm& term : stack.back()) term.factor *= i.a;
        break;
      case Op::Unit:
        for (LinearTerm& term : stack.back()) term.slots.push_back(i.arg);
        break;
      case Op::Add: {
        const Terms top = std::move(stack.back());
        stack.pop_back();
        stack.back().insert(stack.back().end(), top.begin(), top.end());
        break;
      }
      case Op::Dup:
        stack.push_back(Terms(stack.back()));
        break;
      case Op::Out:
        for (LinearTerm& term : stack.back()) {
          term.kernel = kernel;
          found.push_back(std::move(term));
        }
        ++kernel;
        stack.pop_back();
        break;
      default:
        return std::nullopt;
    }
  }
  return found;
}

LinearPlan::LinearPlan(const Program& program, const Side& a, const Side& b)
    : program_(program), a_(a), b_(b) {
  std::optional<Terms> terms = linear_terms(program);
  if (!terms) return;
  for (LinearTerm& term : *terms) {
    fold_constants(term, a, b);
    auto same = [&](const Bundle& bundle) {
      return bundle.source == term.source && bundle.slots == term.slots;
    };
    auto bundle = std::find_if(bundles_.begin(), bundles_.end(), same);
    if (bundle == bundles_.end())
      bundle = bundles_.insert(bundles_.end(), Bundle{term.source, term.slots, {}});
    bundle->terms.push_back(std::move(term));
  }
  linear_ = std::all_of(bundles_.begin(), bundles_.end(), [&](const Bundle& bundle) {
    auto shares = [&](const Bundle& other) { return other.source == bundle.source; };
    return std::count_if(bundles_.begin(), bundles_.end(), shares) <=
           program.sources()[bundle.source]->most_normalisations();
  });
}

std::vector<double> LinearPlan::plane_weights(const Bundle& bundle, const double* weights) const {
  std::vector<double> planes(program_.sources()[bundle.source]->planes(), 0.0);
  for (const LinearTerm& term : bundle.terms)
    planes[term.plane] += term.factor * weights[term.kernel];
  return planes;
}

std::unique_ptr<Sums> LinearPlan::sum_up(const Bundle& bundle, IdSpan rows,
                                         std::span<const double> delta, int threads,
                                         const double* planes) const {
  const int64_t count = int64_t(rows.size());
  std::vector<double> factors(delta.begin(), delta.end());
  for (int32_t slot : bundle.slots)
    for (int64_t r = 0; r < count; ++r) factors[r] *= a_.vectors[slot][rows[r]];
  return program_.sources()[bundle.source]->sums(*a_.tables[bundle.source],
                                                 {rows, factors, b_.n, threads, planes});
}

bool LinearPlan::add(IdSpan rows, std::span<const double> delta, int threads, double* out) const {
  if (!linear_) return false;
  std::vector<std::unique_ptr<Sums>> sums;
  for (const Bundle& bundle : bundles_) {
    sums.push_back(sum_up(bundle, rows, delta, threads, nullptr));
    if (!sums.back()) return false;
  }
  for_columns(b_.n, program_.n_planes(), threads, [&](int64_t j0, int64_t j1) {
    const int64_t width = j1 - j0;
    Buffer<double> values;
    for (size_t g = 0; g < bundles_.size(); ++g) {
      const Bundle& bundle = bundles_[g];
      values.assign(program_.sources()[bundle.source]->planes() * width, 0.0);
      sums[g]->lookup(*b_.tables[bundle.source], j0, j1, values.data(), width);
      for (int32_t slot : bundle.slots)
        for (size_t at = 0; at < values.size(); at += width)
          simd().mul(b_.vectors[slot].data + j0, values.data() + at, width);
      for (const LinearTerm& term : bundle.terms)
        simd().axpy(term.factor, values.data() + term.plane * width, out + term.kernel * b_.n + j0,
                    width);
    }
  });
  return true;
}

std::vector<std::unique_ptr<Sums>> LinearPlan::compile(IdSpan rows, std::span<const double> delta,
                                                       const double* weights, int threads) const {
  std::vector<std::unique_ptr<Sums>> sums;
  if (!linear_) return sums;
  for (const Bundle& bundle : bundles_) {
    const std::vector<double> planes = plane_weights(bundle, weights);
    const bool any = std::any_of(planes.begin(), planes.end(), [](double w) { return w != 0.0; });
    sums.push_back(any ? sum_up(bundle, rows, delta, threads, planes.data())
                       : std::make_unique<NoSums>());
    if (!sums.back()) return {};
  }
  return sums;
}

void LinearPlan::apply(const std::vector<std::unique_ptr<Sums>>& sums, int threads,
                       double* out) const {
  for_columns(b_.n, 1, threads, [&](int64_t j0, int64_t j1) {
    Buffer<double> values;
    for (size_t g = 0; g < bundles_.size(); ++g) {
      values.assign(j1 - j0, 0.0);
      sums[g]->lookup(*b_.tables[bundles_[g].source], j0, j1, values.data(), j1 - j0);
      for (int32_t slot : bundles_[g].slots)
        simd().mul(b_.vectors[slot].data + j0, values.data(), j1 - j0);
      simd().axpy(1.0, values.data(), out + j0, j1 - j0);
    }
  });
}

// One bundle of terms, prepared for the block of a working set.
struct LinearPlan::BlockPart {
  // The weighted sum of its planes as one quantity; null if there is none.
  std::shared_ptr<const Quantity> quantity;
  std::shared_ptr<const Table> table;
  std::unique_ptr<Rows> rows;
  std::vector<double> unit;

  // Adds the values of rows [r0, r1) and columns [j0, j1) to a tile of kBlock columns.
  void add(int64_t r0, int64_t r1, int64_t j0, int64_t j1, double* sums) const {
    double values[kBlock * kBlock];
    quantity->tile(*rows, r0, r1, *table, j0, j1, {values, kBlock, 0});
    for (int64_t r = r0; r < r1; ++r)
      for (int64_t j = j0; j < j1; ++j) {
        const int64_t at = (r - r0) * kBlock + j - j0;
        sums[at] += unit[r] * unit[j] * values[at];
      }
  }
};

std::vector<double> LinearPlan::units(const Bundle& bundle, IdSpan ids) const {
  const int64_t count = int64_t(ids.size());
  std::vector<double> unit(count, 1.0);
  for (int32_t slot : bundle.slots)
    for (int64_t i = 0; i < count; ++i) unit[i] *= a_.vectors[slot][ids[i]];
  return unit;
}

LinearPlan::BlockPart LinearPlan::block_part(const Bundle& bundle, IdSpan ids,
                                             const double* weights) const {
  BlockPart part;
  part.quantity =
      program_.sources()[bundle.source]->combined(plane_weights(bundle, weights).data());
  if (!part.quantity) return part;
  part.table = a_.tables[bundle.source]->subset(ids);
  part.rows = part.quantity->pack(*part.table, all_ids(int64_t(ids.size())), *part.table);
  part.unit = units(bundle, ids);
  return part;
}

bool LinearPlan::block_by_sums(const Bundle& bundle, IdSpan ids, const double* weights, int threads,
                               double* out) const {
  const int64_t count = int64_t(ids.size());
  const std::vector<double> planes = plane_weights(bundle, weights);
  const auto table = a_.tables[bundle.source]->subset(ids);
  const Quantity& quantity = *program_.sources()[bundle.source];
  const std::vector<double> unit = units(bundle, ids);
  run_team(threads, count, [&](int64_t r, int) {
    double* row = out + r * count;
    std::fill(row + r, row + count, 0.0);
    quantity.sums(*table, {{&r, 1}, {&unit[r], 1}, count, 1, planes.data()})
        ->lookup(*table, r, count, row + r, 0);
    for (int64_t j = r; j < count; ++j) {
      row[j] *= unit[j];
      out[j * count + r] = row[j];
    }
  });
  return true;
}

bool LinearPlan::combine(IdSpan rows, std::span<const double> delta, const double* weights,
                         int threads, double* out) const {
  const int64_t count = int64_t(rows.size());
  if (!linear_) return false;
  for (const Bundle& bundle : bundles_)
    if (!program_.sources()[bundle.source]->combined(plane_weights(bundle, weights).data()))
      return false;
  if (count == 0) return true;
  const std::vector<std::unique_ptr<Sums>> sums = compile(rows, delta, weights, threads);
  if (!sums.empty()) {
    apply(sums, threads, out);
    return true;
  }
  for (const Bundle& bundle : bundles_) add_rows(bundle, rows, delta, weights, threads, out);
  return true;
}

// Row by row, after combining the planes into one kernel.
void LinearPlan::add_rows(const Bundle& bundle, IdSpan rows, std::span<const double> delta,
                          const double* weights, int threads, double* out) const {
  const int64_t count = int64_t(rows.size());
  const auto quantity =
      program_.sources()[bundle.source]->combined(plane_weights(bundle, weights).data());
  const Table& b = *b_.tables[bundle.source];
  const std::vector<double> unit = units(bundle, rows);
  const Table& a = *a_.tables[bundle.source];
  const int64_t some = std::max(kBlock, kPackBytes / (1 + quantity->row_bytes(a)));
  for (int64_t first = 0; first < count; first += some) {
    const int64_t last = std::min(count, first + some);
    const auto packed = quantity->pack(a, rows.subspan(first, last - first), b);
    run_team(threads, (b_.n + kBlock - 1) / kBlock, [&](int64_t tile, int) {
      const int64_t j0 = tile * kBlock, j1 = std::min(b_.n, j0 + kBlock);
      double values[kBlock * kBlock], sums[kBlock] = {};
      for (int64_t r0 = first; r0 < last; r0 += kBlock) {
        const int64_t r1 = std::min(last, r0 + kBlock);
        quantity->tile(*packed, r0 - first, r1 - first, b, j0, j1, {values, kBlock, 0});
        for (int64_t r = r0; r < r1; ++r)
          simd().axpy(unit[r] * delta[r], values + (r - r0) * kBlock, sums, j1 - j0);
        check_interrupt();
      }
      for (int32_t slot : bundle.slots) simd().mul(b_.vectors[slot].data + j0, sums, j1 - j0);
      simd().axpy(1.0, sums, out + j0, j1 - j0);
    });
  }
}

// Computes the tiles on and above the diagonal, and mirrors each while it is in the cache.
bool LinearPlan::block(IdSpan ids, const double* weights, int threads, double* out) const {
  const int64_t count = int64_t(ids.size());
  if (!linear_) return false;
  const Bundle& first = bundles_.front();
  if (bundles_.size() == 1 &&
      program_.sources()[first.source]->rows_by_sums(*a_.tables[first.source]))
    return block_by_sums(first, ids, weights, threads, out);
  std::vector<BlockPart> parts;
  for (const Bundle& bundle : bundles_) {
    parts.push_back(block_part(bundle, ids, weights));
    if (!parts.back().quantity) return false;
  }
  const int64_t tiles = (count + kBlock - 1) / kBlock;
  run_team(threads, tiles * tiles, [&](int64_t t, int) {
    const int64_t r0 = t / tiles * kBlock, j0 = t % tiles * kBlock;
    if (j0 < r0) return;
    const int64_t r1 = std::min(count, r0 + kBlock), j1 = std::min(count, j0 + kBlock);
    double sums[kBlock * kBlock] = {};
    for (const BlockPart& part : parts) part.add(r0, r1, j0, j1, sums);
    for (int64_t r = r0; r < r1; ++r)
      for (int64_t j = std::max(j0, r); j < j1; ++j)
        out[r * count + j] = out[j * count + r] = sums[(r - r0) * kBlock + j - j0];
  });
  return true;
}

bool LinearPlan::multiplies() const {
  return linear_ && std::all_of(bundles_.begin(), bundles_.end(),
                                [&](const Bundle& bundle) { return product_costs(bundle).cheap; });
}

bool LinearPlan::multiplies_in(int64_t room) const {
  const auto keeps_parts = [&](const Bundle& bundle) { return product_costs(bundle).keeps_parts; };
  return multiplies() &&
         (product_bytes() <= room || std::all_of(bundles_.begin(), bundles_.end(), keeps_parts));
}

bool LinearPlan::products_are_fixed() const {
  return std::any_of(bundles_.begin(), bundles_.end(),
                     [&](const Bundle& bundle) { return product_costs(bundle).fixed; });
}

ProductCosts LinearPlan::product_costs(const Bundle& bundle) const {
  return program_.sources()[bundle.source]->product_costs(*a_.tables[bundle.source]);
}

int64_t LinearPlan::product_bytes() const {
  int64_t bytes = 0;
  for (const Bundle& bundle : bundles_) bytes += product_costs(bundle).bytes;
  return bytes;
}

void LinearPlan::product_bytes(double* out) const {
  std::fill_n(out, program_.n_kernels(), 0.0);
  for (const Bundle& bundle : bundles_)
    for (const LinearTerm& term : bundle.terms)
      out[term.kernel] += double(product_costs(bundle).bytes);
}

bool LinearPlan::products_are_separate() const {
  return std::all_of(bundles_.begin(), bundles_.end(), [&](const Bundle& bundle) {
    return program_.sources()[bundle.source]->planes() == 1 || alone_in(bundle);
  });
}

std::shared_ptr<const Quantity> LinearPlan::alone_in(const Bundle& bundle) const {
  const Quantity& quantity = *program_.sources()[bundle.source];
  const int32_t plane = bundle.terms.front().plane;
  auto other = [&](const LinearTerm& term) { return term.plane != plane; };
  if (quantity.planes() == 1 || std::any_of(bundle.terms.begin(), bundle.terms.end(), other))
    return nullptr;
  std::vector<double> planes(quantity.planes(), 0.0);
  planes[plane] = 1.0;
  return quantity.combined(planes.data());
}

std::unique_ptr<Products> LinearPlan::products(int64_t room, int threads) const {
  if (!multiplies()) return nullptr;
  const std::vector<int64_t> all = all_ids(a_.n);
  std::vector<Products::Part> parts;
  for (Bundle bundle : bundles_) {
    std::shared_ptr<const Quantity> alone = alone_in(bundle);
    const Quantity& quantity = alone ? *alone : *program_.sources()[bundle.source];
    if (alone)
      for (LinearTerm& term : bundle.terms) term.plane = 0;
    const Table& table = *a_.tables[bundle.source];
    auto product = quantity.product(table, room, threads);
    room = std::max<int64_t>(0, room - quantity.product_costs(table).bytes);
    std::vector<double> unit = units(bundle, all);
    parts.push_back({std::move(bundle), std::move(alone), std::move(product), std::move(unit),
                     std::vector<bool>(size_t(quantity.planes()), true)});
  }
  return std::make_unique<Products>(std::move(parts), a_.n, program_.n_kernels(), threads);
}

}  // namespace kw

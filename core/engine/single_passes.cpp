#include "engine/single_passes.h"

#include <algorithm>
#include <bit>

#include "simd/simd.h"

namespace kw {
namespace {

// Largest changes of a kernel, relative to its size: between zero and the shift of the grid, and by
// rounding of the distance.
constexpr double kSlightSingle = 0.5, kRounding = 1e-3;
// Rounding error of a squared distance, relative to typical squared norms. Examples with larger
// norms have larger errors, which the next pass in double precision removes.
constexpr double kDistanceError = 0x1p-20;
// Panels that are summed in single precision before the sums are added in double.
constexpr int64_t kPanelsAtOnce = 8;

const CellBasis<kNarrowTerms> kNarrowBasis(kNarrowHalf);
const CellBasis<kWideTerms> kWideBasis(kWideHalf);
const CellBasis<kMomentTerms> kMomentBasis(kMomentHalf);

// Position of each of n examples in the list `ids`, or -1.
std::vector<int64_t> positions(IdSpan ids, int64_t n) {
  const int64_t count = int64_t(ids.size());
  std::vector<int64_t> found(n, -1);
  for (int64_t k = 0; k < count; ++k) found[ids[k]] = k;
  return found;
}

// Computes moments: for each column example and each cell, the sums over the support vectors of
// alpha times the powers of the offset in the cell.
class MomentPass {
 public:
  MomentPass(const SingleTable& table, IdSpan ids, std::span<const double> alpha,
             const SingleGrid& grid, IdSpan columns)
      : table_(table),
        support_(table.subset(ids)),
        grid_(grid),
        position_(positions(ids, table.n())),
        columns_(columns) {
    weights_.assign(support_->panels() * kPanel, 0.0f);  // padding of the last panel has weight 0
    std::copy(alpha.begin(), alpha.end(), weights_.begin());
  }

  // Adds the moments of columns [first, first + width), width <= kStrip, to moments (width x
  // grid.moments()). Returns the range of moments that may not be zero.
  UsedMoments collect(int64_t first, int64_t width, double* moments) const {
    UsedMoments used;
    const auto& loops = *simd().single;
    const int64_t tile = kStrip * kPanel, panels = support_->panels();
    const SingleRows rows(table_, columns_.subspan(first, width));
    Buffer<float> s(kPanelsAtOnce * tile), sums(kApart * grid_.moments(), 0.0f);
    for (int64_t p0 = 0; p0 < panels; p0 += kPanelsAtOnce) {
      const int64_t p1 = std::min(p0 + kPanelsAtOnce, panels);
      for (int64_t p = p0; p < p1; ++p)
        rows.distances(0, width, *support_, p, s.data() + (p - p0) * tile);
      for (int64_t r = 0; r < width; ++r) {
        const int64_t self = position_[columns_[first + r]];
        if (self >= p0 * kPanel && self < p1 * kPanel)  // the distance from itself is exactly 0
          s[(self / kPanel - p0) * tile + r * kPanel + self % kPanel] = 0.0f;
        loops.moments(s.data() + r * kPanel, tile, p1 - p0, grid_, weights_.data() + p0 * kPanel,
                      sums.data(), moments + r * grid_.moments(), &used);
      }
    }
    return used;
  }

 private:
  const SingleTable& table_;
  const std::shared_ptr<const SingleTable> support_;
  const SingleGrid grid_;
  const std::vector<int64_t> position_;  // position in `ids` of each example, or -1
  const IdSpan columns_;
  Buffer<float> weights_;
};

// Computes the outputs of all kernels, one strip of examples after another.
class KernelSums {
 public:
  KernelSums(const SingleFamily& family, const MomentPass& pass)
      : family_(family),
        pass_(pass),
        size_(family.grid().moments()),
        moments_(kStrip * size_, 0.0),
        sums_(kStrip * family.padded_kernels()) {}

  // out (kernels x columns): sets columns [first, first + width).
  void fill(int64_t first, int64_t width, int64_t columns, double* out) {
    const UsedMoments used = pass_.collect(first, width, moments_.data());
    std::fill(sums_.begin(), sums_.end(), 0.0);
    add(width, 0, kMomentTerms);
    if (used.low < used.high) add(width, used.low, used.high);
    const int64_t padded = family_.padded_kernels();
    const std::vector<int64_t> members = family_.kernels();
    for (size_t k = 0; k < members.size(); ++k)
      for (int64_t r = 0; r < width; ++r)
        out[members[k] * columns + first + r] = sums_[r * padded + int64_t(k)];
  }

 private:
  // Adds the contribution of moments [low, high) to the sums, and sets these moments to zero.
  void add(int64_t width, int64_t low, int64_t high) {
    simd().single->add_kernels(moments_.data(), width, size_, low, high, family_.moment_weights(),
                               family_.padded_kernels(), sums_.data());
    for (int64_t r = 0; r < width; ++r)
      std::fill_n(moments_.data() + r * size_ + low, high - low, 0.0);
  }

  const SingleFamily& family_;
  const MomentPass& pass_;
  const int64_t size_;
  Buffer<double> moments_, sums_;
};

}  // namespace

SingleFamily::SingleFamily(const Program& program, int64_t plane,
                           std::shared_ptr<const SingleTable> table)
    : functions_(program, plane), table_(std::move(table)) {
  const double bound = std::max(4.0 * table_->largest_norm(), 1e-30);
  const double end = std::ldexp(1.0, std::ilogb(bound) + 1);
  grid_.limit = float(end);
  grid_.shift = float(functions_.still(program, end, kSlightSingle));
  grid_.wide = cells(kNarrowTail) > kValueCells;
  grid_.moment_cells = cells(kMomentTail);
  values_.assign(kCoefficients, 0.0f);
}

int64_t SingleFamily::cells(int tail) const {
  const auto leading = [&](float s) { return int64_t(std::bit_cast<uint32_t>(s) >> tail); };
  return leading(grid_.limit + grid_.shift) - leading(grid_.shift) + 1;
}

bool SingleFamily::serves(const Program& program) const {
  if (!(grid_.limit < 1e30f && grid_.shift > 1e-30f)) return false;
  if (cells(kWideTail) > kValueCells) return false;
  const double still = functions_.still(program, double(grid_.limit), kRounding);
  return still >= kDistanceError * table_->usual_norm();
}

SingleFamily SingleFamily::subset(IdSpan ids) const {
  SingleFamily smaller = *this;  // with the cells and weights of all examples
  smaller.table_ = table_->subset(ids);
  return smaller;
}

void SingleFamily::weigh(const Program& program, const double* weights) {
  if (grid_.wide)
    fill(program, weights, kWideTail, kWideBasis);
  else
    fill(program, weights, kNarrowTail, kNarrowBasis);
}

template <int kTerms>
void SingleFamily::fill(const Program& program, const double* weights, int tail,
                        const CellBasis<kTerms>& basis) {
  const std::vector<double> points = cell_points(grid_.shift, kValueCells, tail, basis);
  const std::vector<double> found = functions_.fit(program, points, basis, weights);
  for (int64_t cell = 0; cell < kValueCells; ++cell)
    for (int d = 0; d < kTerms; ++d)
      values_[d * kValueCells + cell] = values_[kTermByTerm + cell * kCellStride + d] =
          float(found[cell * kTerms + d]);
}

int64_t SingleFamily::padded_kernels() const {
  return (int64_t(kernels().size()) + kKernelsAtOnce - 1) / kKernelsAtOnce * kKernelsAtOnce;
}

std::vector<double> SingleFamily::tabulated_moments(const Program& program) const {
  const std::vector<double> points =
      cell_points(grid_.shift, grid_.moment_cells, kMomentTail, kMomentBasis);
  const std::vector<int64_t> members = kernels();
  const int64_t padded = padded_kernels();
  std::vector<std::vector<double>> values(program.n_kernels());
  for (int64_t m : members) values[m].resize(points.size());
  functions_.tabulate(program, points, [&](int64_t m, const double* v, int64_t first, int64_t n) {
    std::copy_n(v, n, values[m].data() + first);
  });
  std::vector<double> weights(padded * grid_.moments(), 0.0);
  for (size_t k = 0; k < members.size(); ++k) {
    kMomentBasis.to_coefficients(values[members[k]]);
    for (size_t at = 0; at < points.size(); ++at)
      weights[int64_t(at) * padded + int64_t(k)] = values[members[k]][at];
  }
  return weights;
}

std::unique_ptr<SinglePasses> SinglePasses::of(const Program& program, const Side& side) {
  auto passes = std::make_unique<SinglePasses>();
  int64_t plane = 0;
  for (size_t s = 0; s < program.sources().size(); ++s, ++plane) {
    if (!program.sources()[s]->is_squared_distance()) return nullptr;
    auto table = SingleTable::of(*side.tables[s]);
    if (!table) return nullptr;
    SingleFamily family(program, plane, std::move(table));
    if (!family.serves(program)) return nullptr;
    family.prepare(program);
    passes->families_.push_back(std::move(family));
  }
  return passes;
}

std::unique_ptr<SinglePasses> SinglePasses::subset(IdSpan ids) const {
  auto smaller = std::make_unique<SinglePasses>();
  for (const SingleFamily& family : families_) smaller->families_.push_back(family.subset(ids));
  return smaller;
}

void SinglePasses::weigh(const Program& program, const double* weights) {
  for (SingleFamily& family : families_) family.weigh(program, weights);
}

void SinglePasses::add(IdSpan ids, std::span<const double> delta, int threads, double* out) const {
  for (const SingleFamily& family : families_)
    add(family, family.table(), ids, ids, delta, threads, out);
}

void SinglePasses::add_at(IdSpan ids, std::span<const double> delta, IdSpan columns, int threads,
                          double* out) const {
  const int64_t count = int64_t(ids.size());
  if (families_.empty()) return;
  const std::vector<int64_t> position = positions(columns, families_[0].table().n());
  std::vector<int64_t> places(count);
  for (int64_t r = 0; r < count; ++r) places[r] = position[ids[r]];
  for (const SingleFamily& family : families_)
    add(family, *family.table().subset(columns), ids, places, delta, threads, out);
}

void SinglePasses::add(const SingleFamily& family, const SingleTable& others, IdSpan ids,
                       IdSpan places, std::span<const double> delta, int threads,
                       double* out) const {
  const int64_t count = int64_t(places.size());
  const std::vector<float> factors(delta.begin(), delta.end());
  const auto& loops = *simd().single;
  const SingleRows rows(family.table(), ids);
  run_team(threads, others.panels(), [&](int64_t p, int) {
    alignas(64) float s[kStrip * kPanel];
    double sums[kPanel] = {};
    const int64_t first = p * kPanel, width = std::min(kPanel, others.n() - first);
    for (int64_t r = 0; r < count; r += kStrip) {
      const int64_t strip = std::min(kStrip, count - r);
      rows.distances(r, strip, others, p, s);
      for (int64_t k = 0; k < strip; ++k) {  // the distance from itself is exactly 0
        const int64_t self = places[r + k] - first;
        if (self >= 0 && self < kPanel) s[k * kPanel + self] = 0.0f;
      }
      loops.add(s, strip, family.grid(), family.values(), factors.data() + r, sums);
    }
    for (int64_t j = 0; j < width; ++j) out[first + j] += sums[j];
    check_interrupt();
  });
}

void SinglePasses::block(IdSpan ids, int threads, double* out) const {
  const int64_t count = int64_t(ids.size());
  const auto& loops = *simd().single;
  for (const SingleFamily& family : families_) {
    const auto others = family.table().subset(ids);
    const SingleRows rows(family.table(), ids);
    const bool adds = &family != families_.data();
    // Both triangles are computed, which takes no longer than mirroring one of them.
    run_team(threads, (count + kStrip - 1) / kStrip, [&](int64_t strip, int) {
      alignas(64) float s[kStrip * kPanel];
      const int64_t first = strip * kStrip, height = std::min(kStrip, count - first);
      for (int64_t p = 0; p < others->panels(); ++p) {
        rows.distances(first, height, *others, p, s);
        for (int64_t r = 0; r < height; ++r)  // the distance from itself is exactly 0
          if ((first + r) / kPanel == p) s[r * kPanel + (first + r) % kPanel] = 0.0f;
        loops.values(s, height, std::min(kPanel, count - p * kPanel), family.grid(),
                     family.values(), out + first * count + p * kPanel, count, adds);
      }
      check_interrupt();
    });
  }
}

void SinglePasses::outputs(IdSpan ids, std::span<const double> alpha, IdSpan columns, int threads,
                           double* out) const {
  const int64_t n_columns = int64_t(columns.size());
  for (const SingleFamily& family : families_) {
    const MomentPass pass(family.table(), ids, alpha, family.grid(), columns);
    std::vector<std::unique_ptr<KernelSums>> sums(threads);
    run_team(threads, (n_columns + kStrip - 1) / kStrip, [&](int64_t strip, int worker) {
      if (!sums[worker]) sums[worker] = std::make_unique<KernelSums>(family, pass);
      const int64_t first = strip * kStrip;
      sums[worker]->fill(first, std::min(kStrip, n_columns - first), n_columns, out);
      check_interrupt();
    });
  }
}

}  // namespace kw

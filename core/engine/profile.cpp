#include "engine/profile.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/sweep.h"

namespace kw {
namespace {

// A change of a kernel, relative to its size: slight next to a cell, or none at rough nodes.
constexpr double kSlight = 1.0 / 16, kNearlyConstant = 1e-9;

double number(int64_t leading) { return std::bit_cast<double>(uint64_t(leading) << kTail); }
int64_t leading(double s) { return int64_t(std::bit_cast<uint64_t>(s) >> kTail); }

// The Chebyshev points of a cell.
double node(int64_t k) {
  return kHalfCell * std::cos((2.0 * double(k) + 1.0) * M_PI / (2.0 * kTerms));
}

// Coefficients of the cubic that takes given values at the four nodes of a cell: by solving with
// the Lagrange basis, whose coefficients are row k of this matrix.
struct Basis {
  double c[kTerms][kTerms];

  Basis() {
    for (int64_t k = 0; k < kTerms; ++k) {
      double poly[kTerms] = {1.0}, scale = 1.0;
      int64_t degree = 0;
      for (int64_t l = 0; l < kTerms; ++l) {
        if (l == k) continue;
        for (int64_t d = ++degree; d > 0; --d) poly[d] = poly[d - 1] - node(l) * poly[d];
        poly[0] *= -node(l);
        scale *= node(k) - node(l);
      }
      for (int64_t d = 0; d < kTerms; ++d) c[k][d] = poly[d] / scale;
    }
  }
};

const Basis kBasis;

}  // namespace

Profile::Profile(const Program& program, int64_t plane, double bound, bool both_signs)
    : plane_(plane), planes_(program.n_planes()) {
  for (const Group& group : program.groups())
    if (program.plane_of(group) == plane) groups_.push_back(group);
  const double end = std::ldexp(1.0, std::ilogb(std::max(bound, 1e-300)) + 1);
  std::vector<double> values(3 * program.n_kernels());
  const auto at = [&](double s, double* out) {
    std::vector<double> stack(program.stack_size());
    Planes view(planes_);
    for (int64_t p = 0; p < planes_; ++p) view.set(p, &s);
    const Side none;
    program.run(groups_, view.view(none, none, 0, 0, 1, true), stack.data(),
                [&](int64_t m, const double* v) { out[m] = *v; });
  };
  double *zero = values.data(), *far = zero + program.n_kernels(),
         *here = far + program.n_kernels();
  at(0.0, zero);
  at(end, far);
  const auto moves = [&](double s, double change) {
    at(s, here);
    for (const Group& group : groups_)
      for (int64_t m = group.first; m < group.last; ++m)
        if (std::abs(here[m] - zero[m]) > change * std::max(std::abs(zero[m]), std::abs(far[m])))
          return true;
    return false;
  };
  // Up to where no kernel moves from its value at zero.
  const auto start = [&](double change) {
    double s = end;
    while (s > 1e-300 && moves(s, change)) s /= 2.0;
    return s;
  };
  grid_.limit = end;
  grid_.shift = start(kSlight);
  grid_.base = leading(grid_.shift);
  grid_.half = leading(end + grid_.shift) - grid_.base + 1;
  nodes_.base = leading(start(kNearlyConstant)) >> (kNodeShift - kTail);
  nodes_.half = (leading(end) >> (kNodeShift - kTail)) - nodes_.base + 2;
  grid_.both_signs = nodes_.both_signs = both_signs;
  coefficients_.assign(grid_.cells() * kTerms, 0.0);
}

std::vector<double> Profile::cell_points() const {
  std::vector<double> points(grid_.cells() * kTerms);
  for (int64_t cell = 0; cell < grid_.half; ++cell) {
    const double low = number(grid_.base + cell), high = number(grid_.base + cell + 1);
    for (int64_t k = 0; k < kTerms; ++k) {
      const double s = low + 0.5 * (high - low) * (1.0 + node(k) / kHalfCell) - grid_.shift;
      points[cell * kTerms + k] = s;
      if (grid_.both_signs) points[(grid_.half + cell) * kTerms + k] = -s;
    }
  }
  return points;
}

template <typename Sink>
void Profile::tabulate(const Program& program, const std::vector<Group>& groups,
                       const std::vector<double>& points, Sink&& sink) const {
  std::vector<double> stack(program.stack_size() * kTileColumns);
  Planes view(planes_);
  const Side none;
  for (size_t first = 0; first < points.size(); first += kTileColumns) {
    const int64_t n = std::min<int64_t>(kTileColumns, int64_t(points.size() - first));
    for (int64_t p = 0; p < planes_; ++p) view.set(p, points.data() + first);
    program.run(groups, view.view(none, none, 0, 0, n), stack.data(),
                [&](int64_t m, const double* values) { sink(m, values, int64_t(first), n); });
  }
}

void Profile::weigh(const Program& program, const double* weights) {
  std::vector<Group> used;
  for (const Group& group : groups_)
    if (std::any_of(weights + group.first, weights + group.last, [](double w) { return w != 0.0; }))
      used.push_back(group);
  std::vector<double> values(coefficients_.size(), 0.0);
  tabulate(program, used, cell_points(), [&](int64_t m, const double* v, int64_t first, int64_t n) {
    simd().axpy(weights[m], v, values.data() + first, n);
  });
  for (int64_t cell = 0; cell < grid_.cells(); ++cell)
    for (int64_t d = 0; d < kTerms; ++d) {
      double sum = 0.0;
      for (int64_t k = 0; k < kTerms; ++k) sum += kBasis.c[k][d] * values[cell * kTerms + k];
      coefficients_[cell * kTerms + d] = sum;
    }
}

// A sum of interpolated values is a weighted sum over nodes: the moments give the weights.
void Profile::integrate(const Program& program, const double* moments, double* out) const {
  std::vector<double> weights(coefficients_.size(), 0.0);
  for (int64_t cell = 0; cell < grid_.cells(); ++cell) {
    const double* moment = moments + cell * kTerms;
    for (int64_t k = 0; k < kTerms; ++k)
      for (int64_t d = 0; d < kTerms; ++d) weights[cell * kTerms + k] += kBasis.c[k][d] * moment[d];
  }
  tabulate(program, groups_, cell_points(),
           [&](int64_t m, const double* v, int64_t first, int64_t n) {
             out[m] += simd().dot(v, weights.data() + first, n);
           });
}

std::vector<int64_t> Profile::kernels() const {
  std::vector<int64_t> members;
  for (const Group& group : groups_)
    for (int64_t m = group.first; m < group.last; ++m) members.push_back(m);
  return members;
}

void Profile::sample(const Program& program, double* out) const {
  std::vector<double> points;
  for (int64_t k = 0; k < nodes_.half; ++k)
    points.push_back(number((nodes_.base + k) << (kNodeShift - kTail)));
  for (int64_t k = 0; nodes_.both_signs && k < nodes_.half; ++k) points.push_back(-points[k]);
  std::vector<int64_t> row(program.n_kernels());
  const std::vector<int64_t> members = kernels();
  for (size_t r = 0; r < members.size(); ++r) row[members[r]] = int64_t(r);
  tabulate(program, groups_, points, [&](int64_t m, const double* v, int64_t first, int64_t n) {
    std::copy_n(v, n, out + row[m] * nodes_.count() + first);
  });
}

}  // namespace kw

// The kernels of one plane as functions of one real number, and their approximation by piecewise
// polynomials in double (profile.h) or single precision (single_passes.h).
#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <type_traits>
#include <vector>

#include "engine/sweep.h"
#include "kernels/program.h"

namespace kw {

// Converts values at the Chebyshev points of a cell to coefficients of a polynomial of degree
// kTerms - 1. Its argument is the offset from the middle of the cell, in [-half, half].
template <int kTerms>
class CellBasis {
 public:
  explicit CellBasis(double half) : half_(half) {
    for (int k = 0; k < kTerms; ++k)
      node_[k] = half * std::cos((2.0 * double(k) + 1.0) * M_PI / (2.0 * kTerms));
    for (int k = 0; k < kTerms; ++k) lagrange(k);
  }

  // Chebyshev point k of the cell [low, high).
  double point(int k, double low, double high) const {
    return low + 0.5 * (high - low) * (1.0 + node_[k] / half_);
  }
  // Coefficient of power d of the Lagrange polynomial of node k: 1 at node k, 0 at the others.
  double operator()(int k, int d) const { return c_[k][d]; }
  // Replaces values at the Chebyshev points of cells by coefficients.
  void to_coefficients(std::vector<double>& values) const {
    for (size_t cell = 0; cell < values.size(); cell += kTerms) {
      double here[kTerms];
      std::copy_n(values.data() + cell, kTerms, here);
      for (int d = 0; d < kTerms; ++d) {
        double sum = 0.0;
        for (int k = 0; k < kTerms; ++k) sum += c_[k][d] * here[k];
        values[cell + d] = sum;
      }
    }
  }

 private:
  void lagrange(int k) {
    double poly[kTerms] = {1.0}, scale = 1.0;
    int degree = 0;
    for (int l = 0; l < kTerms; ++l) {
      if (l == k) continue;
      for (int d = ++degree; d > 0; --d) poly[d] = poly[d - 1] - node_[l] * poly[d];
      poly[0] *= -node_[l];
      scale *= node_[k] - node_[l];
    }
    for (int d = 0; d < kTerms; ++d) c_[k][d] = poly[d] / scale;
  }

  double half_, node_[kTerms], c_[kTerms][kTerms];
};

// The Chebyshev points of the first cells of a grid, kTerms for each cell. All numbers s + shift of
// a cell agree in all but the last `tail` bits of a Scalar.
template <std::floating_point Scalar, int kTerms>
std::vector<double> cell_points(Scalar shift, int64_t cells, int tail,
                                const CellBasis<kTerms>& basis) {
  using Bits = std::conditional_t<sizeof(Scalar) == 4, uint32_t, uint64_t>;
  const Bits base = std::bit_cast<Bits>(shift) >> tail;
  const auto edge = [&](int64_t cell) {
    return double(std::bit_cast<Scalar>(Bits((base + Bits(cell)) << tail)));
  };
  std::vector<double> points;
  points.reserve(cells * kTerms);
  for (int64_t cell = 0; cell < cells; ++cell)
    for (int k = 0; k < kTerms; ++k)
      points.push_back(basis.point(k, edge(cell), edge(cell + 1)) - double(shift));
  return points;
}

class Functions {
 public:
  Functions(const Program& program, int64_t plane) : planes_(program.n_planes()) {
    for (const Group& group : program.groups())
      if (program.plane_of(group) == plane) groups_.push_back(group);
  }

  std::vector<int64_t> kernels() const {
    std::vector<int64_t> members;
    for (const Group& group : groups_)
      for (int64_t m = group.first; m < group.last; ++m) members.push_back(m);
    return members;
  }

  // Calls sink(m, values, first, count) with the values of kernel m at points [first, first +
  // count), for each kernel. If weights are given, kernels with weight 0 are skipped.
  template <std::invocable<int64_t, const double*, int64_t, int64_t> Sink>
  void tabulate(const Program& program, const std::vector<double>& points, Sink&& sink,
                const double* weights = nullptr) const {
    const std::vector<Group> groups = weights ? used(weights) : groups_;
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

  // Coefficients of sum_m weights[m] k_m, kTerms for each cell, from the Chebyshev points of the
  // cells.
  template <int kTerms>
  std::vector<double> fit(const Program& program, const std::vector<double>& points,
                          const CellBasis<kTerms>& basis, const double* weights) const {
    std::vector<double> values(points.size(), 0.0);
    const auto add = [&](int64_t m, const double* v, int64_t first, int64_t n) {
      simd().axpy(weights[m], v, values.data() + first, n);
    };
    tabulate(program, points, add, weights);
    basis.to_coefficients(values);
    return values;
  }

  // Returns the largest of end, end / 2, end / 4, ... up to which every kernel differs from its
  // value at 0 by at most `part` of its size; at least 1e-300.
  double still(const Program& program, double end, double part) const {
    const std::vector<double> ends = values_at(program, {0.0, end});
    double s = end;
    while (s > 1e-300) {
      const std::vector<double> here = values_at(program, {s});
      bool moves = false;
      for (size_t k = 0; k < here.size(); ++k)
        moves |= std::abs(here[k] - ends[2 * k]) >
                 part * std::max(std::abs(ends[2 * k]), std::abs(ends[2 * k + 1]));
      if (!moves) break;
      s /= 2.0;
    }
    return s;
  }

 private:
  std::vector<Group> used(const double* weights) const {
    std::vector<Group> found;
    for (const Group& group : groups_)
      if (std::any_of(weights + group.first, weights + group.last,
                      [](double w) { return w != 0.0; }))
        found.push_back(group);
    return found;
  }

  // The values of each kernel at a few points.
  std::vector<double> values_at(const Program& program, const std::vector<double>& points) const {
    std::vector<double> values;
    tabulate(program, points, [&](int64_t, const double* v, int64_t, int64_t n) {
      values.insert(values.end(), v, v + n);
    });
    return values;
  }

  int64_t planes_;
  std::vector<Group> groups_;
};

}  // namespace kw

// The kernels of one plane as functions of one number.
#pragma once
#include <cmath>
#include <vector>

#include "engine/sweep.h"
#include "kernels/program.h"

namespace kw {

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

  // Calls sink(m, values, first, count) for the values of each kernel m, or of those with a weight
  // that is not zero, at points [first, first + count).
  template <typename Sink>
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

  // The largest of end, end / 2, end / 4, ... up to which no kernel moves from its value at zero by
  // more than a part of its size; nothing less than 1e-300.
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

  // For each kernel its values at a few points.
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

// Polynomials of degree kTerms - 1 on cells: from values at the Chebyshev points of a cell, whose
// places are in [-half, half], to coefficients of the powers of the place.
template <int kTerms>
class CellBasis {
 public:
  explicit CellBasis(double half) {
    for (int k = 0; k < kTerms; ++k)
      node_[k] = half * std::cos((2.0 * double(k) + 1.0) * M_PI / (2.0 * kTerms));
    for (int k = 0; k < kTerms; ++k) lagrange(k);
  }

  double node(int k) const { return node_[k]; }
  // Coefficient of power d of the polynomial that is 1 at node k and 0 at the others.
  double operator()(int k, int d) const { return c_[k][d]; }
  double coefficient(const double* values, int d) const {
    double sum = 0.0;
    for (int k = 0; k < kTerms; ++k) sum += c_[k][d] * values[k];
    return sum;
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

  double node_[kTerms], c_[kTerms][kTerms];
};

}  // namespace kw

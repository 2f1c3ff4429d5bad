// Weighted sums of kernels of one shared quantity, as piecewise cubic polynomials.
//
// The kernels of a family are functions of one shared quantity s, so that their weighted sum is one
// function of s as well, and costs the same for any number of kernels. The real line is divided
// into cells, 256 for every factor of two of |s| + shift; the leading bits of that number select
// the cell. The shift is so small that no kernel changes much between zero and it. For exp(-gamma
// s) the cubic through the Chebyshev points of a cell is within 4e-13 of the function. New weights
// cost one evaluation of every kernel at four points per cell.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/functions.h"
#include "simd/cells.h"
#include "system/recycled.h"

namespace kw {

class Profile {
 public:
  // For the kernels of one plane, whose values are at most `bound` in absolute value.
  Profile(const Program& program, int64_t plane, double bound, bool both_signs);

  // Sets the function to sum_m weights[m] k_m.
  void weigh(const Program& program, const double* weights);
  // out[m] += the sum of k_m over all pairs whose moments were collected, for the kernels m of the
  // plane.
  void integrate(const Program& program, const double* moments, double* out) const;
  // The kernels of the plane, and the matrix (kernels x nodes) of their values at the interpolation
  // nodes. Cubic interpolation between the nodes is within 1e-6 of each kernel.
  std::vector<int64_t> kernels() const { return functions_.kernels(); }
  void sample(const Program& program, double* out) const;

  const Grid& grid() const { return grid_; }
  const Nodes& nodes() const { return nodes_; }
  const double* coefficients() const { return coefficients_.data(); }

 private:
  std::vector<double> points() const;  // Chebyshev points, kTerms for every cell

  Functions functions_;
  Grid grid_;
  Nodes nodes_;
  Buffer<double> coefficients_;  // aligned: a cell does not cross a cache line
};

}  // namespace kw

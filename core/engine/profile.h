// Functions of one number as piecewise cubic polynomials.
//
// The kernels of a family are functions of one shared quantity s, so that a weighted sum of them is
// one function of s as well, and costs the same however many kernels it is made of. The line is cut
// into cells, 256 for every factor of two of |s| + shift, found by the leading bits of that number;
// the shift is so small that no kernel changes much from zero to it. For exp(-gamma s) the cubic
// through the Chebyshev points of a cell is within 4e-13 of it.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/functions.h"
#include "simd/cells.h"
#include "system/recycled.h"

namespace kw {

class Profile {
 public:
  // For the kernels of one plane, whose values are at most `bound` in size.
  Profile(const Program& program, int64_t plane, double bound, bool both_signs);

  // Sets the function to sum_m weights[m] k_m.
  void weigh(const Program& program, const double* weights);
  // out[m] += the sum of k_m over all pairs whose moments were collected, for its kernels m.
  void integrate(const Program& program, const double* moments, double* out) const;
  // Its kernels, and their values at the nodes of piecewise cubic functions that are within 1e-6
  // of them: a row for each.
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
  Buffer<double> coefficients_;  // a cell does not lie across cache lines
};

}  // namespace kw

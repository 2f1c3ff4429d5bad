// The convex problem inside a working set of q examples.
//
//   minimise over alpha   1/2 (alpha - start)' K (alpha - start) + outputs' (alpha - start)
//                         + sum_i conj_i(alpha_i)
//   subject to            sum_i alpha_i = sum_i start_i,   lo_i <= alpha_i <= hi_i
//
//   conj_i(a) = lin_i a + eps_i |a| + curv_i a^2 / 2 + ent_i h((a - lo_i) / (hi_i - lo_i)),
//   h(z) = z log z + (1 - z) log(1 - z)
//
// (an alpha with an entropy stays 1e-14 of its box away from its bounds, where slopes are
// unbounded), which is the dual of every loss the library offers. With `outputs` the gradient of
// the quadratic part, up_i and down_i are the one-sided derivatives of the objective when alpha_i
// rises or falls; alpha is optimal when no down exceeds an up. Pairs (i rises, j falls) are chosen
// by the smallest up and then by the largest second-order gain (Fan, Chen and Lin 2005), and solved
// exactly.
#pragma once
#include <cstdint>
#include <span>

namespace kw {

struct DualTerm {
  const double *lin, *eps, *curv, *ent, *lo, *hi;
};

struct PairSteps {
  int64_t steps;
  double violation;  // largest down minus smallest up at the end
};

// alpha and outputs (q values each) are changed in place; kernel: q x q. Stops when the violation
// is at most `tolerance`, or after `max_steps`.
PairSteps solve_pairs(const double* kernel, const DualTerm& term, double tolerance,
                      int64_t max_steps, std::span<double> alpha, double* outputs);

}  // namespace kw

// The dual problem of a working set of q examples, by sequential minimal optimisation (SMO).
//
//   minimise over alpha   1/2 (alpha - start)' K (alpha - start) + outputs' (alpha - start)
//                         + sum_i conj_i(alpha_i)
//   subject to            sum_i alpha_i = sum_i start_i,   lo_i <= alpha_i <= hi_i
//
//   conj_i(a) = lin_i a + eps_i |a| + curv_i a^2 / 2 + ent_i h((a - lo_i) / (hi_i - lo_i)),
//   h(z) = z log z + (1 - z) log(1 - z)
//
// This form covers the dual of every loss of the library that is a sum over examples. K is the
// combined kernel matrix; `outputs` is the gradient of the quadratic part at the start and is
// updated. If a conjugate has an entropy, whose slope is unbounded at the bounds, alpha stays 1e-14
// of its box away from them.
//
// up_i and down_i are the one-sided derivatives of the objective when alpha_i increases or
// decreases; alpha is optimal when no down exceeds an up. Each step selects i by the smallest up,
// and j by the largest second-order gain (Fan, Chen and Lin, 2005), and minimises exactly over the
// pair.
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

// Changes alpha and outputs (q values each). kernel: q x q. Stops when the violation is at most
// `tolerance`, or after `max_steps` steps.
PairSteps solve_pairs(const double* kernel, const DualTerm& term, double tolerance,
                      int64_t max_steps, std::span<double> alpha, double* outputs);

}  // namespace kw

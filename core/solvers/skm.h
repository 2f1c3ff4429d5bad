// The smoothed support kernel machine inside a working set of q examples (Bach et al., 2004).
//
//   minimise over alpha   sum_i conj_i(alpha_i) + R(mu),    mu_m = sqrt(s_m / cost_m),
//                         R(mu) = min over gamma of
//                                 gamma^2 / 2 + sum_m (mu_m + shift_m - d gamma)_+^2 / (2
//                                 kappa_m^2)
//   subject to            sum_i alpha_i = sum_i start_i,    lo_i <= alpha_i <= hi_i
//
// with s_m = alpha' K_m alpha over all examples. With d = 0 it is one SVM on the sum of the
// kernels; with d = 1, R comes to be max_m mu_m^2 / 2, the dual term of p = 1, as kappa falls to 0,
// or with the right shifts at any kappa. R is differentiable: its gradient in alpha is sum_m eta_m
// / cost_m K_m alpha with eta_m = (mu_m + shift_m - d gamma)_+ / (kappa_m^2 mu_m). So pairs of
// examples can be worked on one at a time (SMO); the objective along a pair is a function of M
// parabolas s_m, minimised by Newton's method in a bracket. A step costs O(M q).
#pragma once
#include <cstdint>

#include "solvers/subproblem.h"
#include "system/ids.h"

namespace kw {

struct Smoothing {
  const double* kappa;  // one for each kernel
  double d;
  const double* shift;  // one for each kernel
};

struct SkmKernels {
  const double* values;  // kernels x q x q
  IdSpan ids;            // the kernels to work on; all others have eta = 0 and are not changed
  const double* cost;    // cost of each kernel
};

// alpha (q values), outputs (kernels x q) and s (one value per kernel) are changed in place.
PairSteps solve_skm(const SkmKernels& kernels, const DualTerm& term, const Smoothing& smoothing,
                    double tolerance, int64_t max_steps, std::span<double> alpha, double* outputs,
                    double* s);

}  // namespace kw

// The smoothed support kernel machine inside a working set of q examples (Bach et al., 2004).
//
//   minimise over alpha   sum_i conj_i(alpha_i) + R(mu),    mu_m = sqrt(s_m / cost_m),
//                         R(mu) = min over gamma of  gamma^2 / 2 + sum_m (mu_m - d gamma)_+^2 / (2 a^2)
//   subject to            sum_i alpha_i = sum_i start_i,    lo_i <= alpha_i <= hi_i
//
// with s_m = alpha' K_m alpha over all examples, a = kappa and d = 1 - kappa. At kappa = 1 it is one
// machine on the sum of the kernels; as kappa falls to 0, R becomes max_m mu_m^2 / 2, the dual term of
// p = 1. R is differentiable: its gradient in alpha is sum_m eta_m / cost_m K_m alpha with
// eta_m = (1 - d gamma / mu_m)_+ / a^2. So pairs of examples can be worked on one at a time (SMO); the
// objective along a pair is a function of M parabolas s_m, minimised by Newton's method in a bracket.
#pragma once
#include <cstdint>
#include <vector>

#include "subproblem.h"

namespace kw {

// gamma and eta of some kernels, found in a few passes over them.
class Smoothed {
 public:
  explicit Smoothed(double kappa) : inverse_(1.0 / (kappa * kappa)), d_(1.0 - kappa) {}

  // mu: one value per kernel. gamma starts where it last was.
  void set(const std::vector<double>& mu);
  double eta(double mu) const;
  // The share of gamma's change in the curvature: (d / a^2)^2 / (1 + active (d / a)^2).
  double coupling() const;
  double inverse() const { return inverse_; }

 private:
  double inverse_, d_, gamma_ = 0.0;
  int64_t active_ = 0;
};

struct SkmKernels {
  const double* values;  // kernels x q x q
  const int64_t* ids;    // the kernels to work on; all others have eta = 0 and are left alone
  int64_t count;
  const double* cost;    // of every kernel
};

// alpha (q values), outputs (kernels x q) and s (one value per kernel) are changed in place.
PairSteps solve_skm(const SkmKernels& kernels, int64_t q, const DualTerm& term, double kappa,
                    double tolerance, int64_t max_steps, double* alpha, double* outputs, double* s);

}  // namespace kw

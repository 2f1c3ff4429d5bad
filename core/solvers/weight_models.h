// Models of J(theta), the optimal value of the inner problem, and their minimisation over the
// kernel weights.
//
// If every kernel has rank one, J and its Hessian H at theta determine J at theta + d
// (optimization/steps/newton.py has the formulas): the Hessian there is (1 + u / s) P (1 + u / s)
// with P = (I + H D)^-1 H, D = diag(d / s) and u = -P d. Models take O(M^3); a step in a pair of
// weights takes O(M).
#pragma once
#include <cstdint>
#include <span>

namespace kw {

// Sets P (M x M). Kernels with |D_m| H_mm <= `slight` are treated as if D_m = 0, and
// moved[m] is 0 for them. Returns false if I + H D is singular.
bool rank_one_response(const double* hessian, std::span<const double> D, double slight, double* P,
                       char* moved);

// Sets the change of J when the weights change by d, and the gradient (M) and Hessian (M x M) of J
// there. Returns false if they are not finite or I + H D is singular.
bool rank_one_model(const double* hessian, std::span<const double> s, std::span<const double> d,
                    double slight, double* value, double* gradient, double* bent);

// A quadratic model of J over feasible weights.
//
//   minimise over v   gradient . (v - theta) + 1/2 (v - theta)' (P + ridge I) (v - theta)
//   subject to        v >= lower,   costs . v = total
struct WeightModel {
  const double* P;
  std::span<const double> gradient, theta, lower, costs;
  double ridge, total;
};

// Stopping rule: the slopes of the model, divided by costs, differ by at most `most`, or by at most
// `part` of their initial difference if that is less. Gives up after pairs_per_weight steps for
// each weight.
struct Evenness {
  double most, part;
  int64_t pairs_per_weight;
};

// Minimises the model over v (k values) by steps in pairs of weights. Returns false if it gives up.
bool even_weights(const WeightModel& model, const Evenness& evenness, double* v);

}  // namespace kw

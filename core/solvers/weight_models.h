// Models of J(theta), the optimal value of the inner problem, in the weights of several kernels.
//
// Kernels of rank one (steps/newton.py has the formulas): where weights have moved by d, a Hessian
// H becomes (1 + u / s) P (1 + u / s) with P = (I + H D)^-1 H, D = diag(d / s) and u = -P d.
#pragma once
#include <cstdint>
#include <span>

namespace kw {

// Sets P (M x M), and moved[m] if |D_m| H_mm is above `slight`; otherwise D_m counts as 0. Returns
// false if I + H D is singular.
bool rank_one_response(const double* hessian, std::span<const double> D, double slight, double* P,
                       char* moved);

// Sets the change of J when the weights move by d, its gradient (M) and its Hessian (M x M) there.
// Returns false if they do not exist.
bool rank_one_model(const double* hessian, std::span<const double> s, std::span<const double> d,
                    double slight, double* value, double* gradient, double* bent);

// A quadratic model over weights whose products with their costs have a fixed sum.
//
//   minimise over v   gradient . (v - theta) + 1/2 (v - theta)' (P + ridge I) (v - theta)
//   subject to        v >= lower,   costs . v = total
struct WeightModel {
  const double* P;
  std::span<const double> gradient, theta, lower, costs;
  double ridge, total;
};

// When slopes, relative to costs, are equal enough: up to `most`, or up to `part` of how far they
// are apart at first if that is less; and after how many pairs for each weight to give up.
struct Evenness {
  double most, part;
  int64_t pairs_per_weight;
};

// v (k values), two weights at a time. Returns whether it is found.
bool even_weights(const WeightModel& model, const Evenness& evenness, double* v);

}  // namespace kw

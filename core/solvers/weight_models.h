// Models of J(theta), the optimal value of the inner problem, in the weights of several kernels.
//
// Kernels of rank one (steps/newton.py has the formulas): where weights have moved by d, a Hessian
// H becomes (1 + u / s) P (1 + u / s) with P = (I + H D)^-1 H, D = diag(d / s) and u = -P d.
#pragma once
#include <cstdint>

namespace kw {

// P (M x M) and which of D (M values) are not slight: |D_m| H_mm above `slight`. The others count
// as 0. Returns whether I + H D can be solved.
bool rank_one_response(const double* hessian, const double* D, int64_t M, double slight, double* P,
                       char* moved);

// What J has changed by where weights have moved by d, its gradient (M) and its Hessian (M x M).
// Returns whether they exist.
bool rank_one_model(const double* hessian, const double* s, const double* d, int64_t M,
                    double slight, double* value, double* gradient, double* bent);

// A quadratic model over weights whose products with their costs have a fixed sum.
//
//   minimise over v   gradient . (v - theta) + 1/2 (v - theta)' (P + ridge I) (v - theta)
//   subject to        v >= lower,   costs . v = total
struct WeightModel {
  const double *P, *gradient, *theta, *lower, *costs;
  int64_t k;
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

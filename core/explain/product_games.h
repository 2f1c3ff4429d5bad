// Exact interventional Shapley values of decision functions that are sums of product games,
//
//   f(x) = sum_s coef_s (constant + sum_k u_k(x, s))^degree prod_k a_k(x, s),
//
// where player k (a column, or several) enters through a_k and u_k only. For an example x, a
// background row z and a support vector s, with factors a_k of x and b_k of z, the value of player
// j in the game of degree 0 is
//
//   phi_j = int_0^1 (a_j - b_j) prod_{k != j} (t a_k + (1 - t) b_k) dt
//
// (Owen, 1972), a polynomial in t, which Gauss-Legendre quadrature integrates exactly. Fewer nodes
// are used where a bound on the error of the quadrature is below the rounding of double precision.
// The time is proportional to examples x background rows x support vectors x players x nodes.
#pragma once
#include <cstdint>

namespace kw {

// Arrays are C-contiguous; `players` is at least 1, and degree at most kMaxGameDegree.
struct ProductGames {
  int64_t players, examples, background, support, outputs;
  const double* a;        // (players, examples, support)
  const double* b;        // (players, background, support)
  const double* u;        // (players, examples, support), or null where degree is 0
  const double* v;        // (players, background, support), or null where degree is 0
  const double* weights;  // (background,)
  const double* coef;     // (outputs, support)
  double constant;
  int64_t degree;
  // True if all a and b are 1; then the integrand has degree `degree` - 1 in t.
  bool constant_factors;
};

// Adds the values, averaged over the background with its weights, to out: (examples, outputs,
// players).
void shapley_of_products(const ProductGames& games, int threads, double* out);

}  // namespace kw

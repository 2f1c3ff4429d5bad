// The dual problem of the multi-class hinge loss (Crammer and Singer 2001) on q examples of K
// classes.
//
//   minimise over alpha   1/2 sum_k (alpha_k - start_k)' Kernel (alpha_k - start_k)
//                         + sum_k outputs_k' (alpha_k - start_k) - sum_i alpha_{i c_i}
//   subject to            sum_k alpha_ik = 0,  alpha_ik <= C_i [k = c_i],
//                         sum_i alpha_ik = sum_i start_ik  (with an intercept)
//
// Passes of block coordinate descent, in which the K alphas of one example are solved exactly by
// sorting (Crammer and Singer, section 6), alternate with conjugate gradients on the face of the
// alphas that can move either way (More and Toraldo 1991). The sums over examples are kept by the
// method of multipliers, with the biases as multipliers. With G_ik = outputs_ik + bias_k + [k !=
// c_i] and p_ik = [k = c_i] - alpha_ik / C_i, the duality gap is the sum of C_i sum_k p_ik (max G_i
// - G_ik).
#pragma once
#include <cstdint>
#include <span>

namespace kw {

struct ClassBlock {
  const double* kernel;            // q x q
  std::span<const int64_t> codes;  // class of each example
  std::span<const double> costs;
  int64_t classes;
  bool intercept;
};

// alpha and outputs (classes x q) and bias are changed in place. Stops when the gap of the block is
// at most `gap`, or after `most` passes over the examples. Returns the number of passes.
int64_t solve_classes(const ClassBlock& block, double gap, int64_t most, std::span<double> alpha,
                      std::span<double> outputs, std::span<double> bias);

}  // namespace kw

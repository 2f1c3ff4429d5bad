// An engine for linear kernels whose matrices multiply vectors at little cost: it keeps no rows and
// no outputs of single kernels. Sums over some examples are products with a sparse vector.
#pragma once
#include <memory>

#include "kernels/products.h"

namespace kw {

class LinearEngine {
 public:
  LinearEngine(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes, int threads);
  LinearEngine(const LinearEngine&) = delete;

  // True if kernels on these examples are such.
  static bool serves(const Program& program, const Side& side);

  int64_t n() const { return side_.n; }
  int64_t n_kernels() const { return program_->n_kernels(); }
  // The time that the values of a pair take, in values that are read from a long row meanwhile.
  double reads() const { return reads_of(*program_, side_); }
  // True if most of the time of a product does not depend on the number of examples.
  bool products_are_fixed() const { return plan_.products_are_fixed(); }
  // True if products of single kernels take no longer than those of their sum.
  bool products_are_separate() const { return plan_.products_are_separate(); }
  // out (count x count): sum_m weights[m] k_m inside a working set.
  void block(IdSpan ids, const double* weights, double* out) const;
  // out (M x count x count): every k_m inside a working set.
  void blocks(IdSpan ids, double* out) const;
  // out[i] += sum_m weights[m] sum_r delta[r] k_m(x_ids[r], x_i).
  void add(IdSpan ids, std::span<const double> delta, const double* weights, double* out) const;
  // True if the cache has room for all that products keep.
  bool keeps_products() const { return plan_.product_bytes() <= cache_bytes_; }
  // out[m]: what products of kernel m keep.
  void product_bytes(double* out) const { plan_.product_bytes(out); }
  // Products with the matrices on all examples; null where these must keep more than there is room
  // for. Without `keep` each is made anew. The engine must live as long.
  std::unique_ptr<Products> products(bool keep) const;
  void diagonal(double* out) const;
  std::unique_ptr<LinearEngine> subset(IdSpan ids) const;

 private:
  std::shared_ptr<const Program> program_;
  Side side_;
  int64_t cache_bytes_;
  int threads_;
  LinearPlan plan_;
};

}  // namespace kw

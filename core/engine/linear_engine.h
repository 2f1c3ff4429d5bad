// An engine for kernels whose matrix-vector products are cheap (linear kernels, string kernels with
// tries or tables of words). It keeps no rows and no outputs of single kernels. The update of the
// outputs by some examples is a product with a sparse vector.
#pragma once
#include <memory>

#include "kernels/products.h"

namespace kw {

class LinearEngine {
 public:
  LinearEngine(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes, int threads);
  LinearEngine(const LinearEngine&) = delete;

  // True if all kernels on these examples have cheap products.
  static bool serves(const Program& program, const Side& side);

  int64_t n() const { return side_.n; }
  int64_t n_kernels() const { return program_->n_kernels(); }
  // Cost of the values of one pair, in units of reading one value from a long row.
  double reads() const { return reads_of(*program_, side_); }
  // True if most of the time of a product does not depend on the number of examples.
  bool products_are_fixed() const { return plan_.products_are_fixed(); }
  // True if products of all single kernels cost no more than the product of their sum.
  bool products_are_separate() const { return plan_.products_are_separate(); }
  // out (count x count): sum_m weights[m] k_m between the examples of a working set.
  void block(IdSpan ids, const double* weights, double* out) const;
  // out (M x count x count): every k_m between the examples of a working set.
  void blocks(IdSpan ids, double* out) const;
  // out[i] += sum_m weights[m] sum_r delta[r] k_m(x_ids[r], x_i).
  void add(IdSpan ids, std::span<const double> delta, const double* weights, double* out) const;
  // True if the cache has enough memory for everything that products keep.
  bool keeps_products() const { return plan_.product_bytes() <= cache_bytes_; }
  // True if `products(true)` returns the kernel matrices. This builds no tables.
  bool has_products() const { return keeps_products() || plan_.keeps_parts(); }
  // out[m]: bytes that products of kernel m keep.
  void product_bytes(double* out) const { plan_.product_bytes(out); }
  // The kernel matrices on all examples as operators; null if they need more memory than is left.
  // Without `keep` nothing is cached: every product recomputes its tables. The engine must outlive
  // the result.
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

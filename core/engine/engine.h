// The engine for a few kernels: it holds the examples and the outputs of every kernel,
//
//   outputs[m, i] = sum_j alpha_j k_m(x_j, x_i).
//
// A solver reads the kernel matrix of a working set (`block`), changes some alphas (`add`), and
// reads the outputs. Rows of the shared quantities are cached. Kernel weights are applied
// afterwards, so that new weights need no kernel evaluation.
#pragma once
#include <memory>
#include <vector>

#include "engine/shared_rows.h"
#include "kernels/products.h"

namespace kw {

class Engine {
 public:
  explicit Engine(std::unique_ptr<SharedRows> rows);

  int64_t n() const { return rows_->side().n; }
  int64_t n_kernels() const { return rows_->program().n_kernels(); }
  double* outputs() { return outputs_.data(); }
  int64_t cached_rows() const { return rows_->cached(); }
  double reads() const { return reads_of(rows_->program(), rows_->side()); }
  int threads() const { return rows_->threads(); }

  // out (count x count): sum_m weights[m] k_m between the examples of a working set.
  void block(IdSpan ids, const double* weights, double* out);
  // out (M x count x count): every k_m between the examples of a working set.
  void blocks(IdSpan ids, double* out) const;
  // outputs[m, i] += sum_r delta[r] k_m(x_ids[r], x_i).
  void add(IdSpan ids, std::span<const double> delta);
  // True if the cache has enough memory for everything that matrix-vector products keep.
  bool keeps_products() const { return linear_.product_bytes() <= rows_->cache_bytes(); }
  // True if `products` returns the kernel matrices. This builds no tables.
  bool has_products() const {
    return (keeps_products() || linear_.keeps_parts()) && linear_.multiplies();
  }
  // True if most of the time of a product does not depend on the number of examples.
  bool products_are_fixed() const { return linear_.products_are_fixed(); }
  // The kernel matrices as operators for matrix-vector products; null if products are no cheaper
  // than rows, or need more memory than is left.
  std::unique_ptr<Products> products() const;
  // out[m, i] = sum_j v[j] k_m(x_j, x_i). Returns false if rows are cheaper or the only way.
  bool multiply(const double* v, double* out) const;
  void diagonal(double* out) const;
  // Returns an engine for some of the examples, with their outputs and cached rows.
  std::unique_ptr<Engine> subset(IdSpan ids);

 private:
  std::unique_ptr<SharedRows> rows_;
  std::vector<double> outputs_;
  LinearPlan linear_;
};

}  // namespace kw

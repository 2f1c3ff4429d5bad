// Kernels that are linear in shared quantities, k_m = sum of factor * u(x) * u(y) * plane(x, y).
// For these sum_r delta_r k_m(x_r, .) needs no rows where a quantity can sum up by itself: the
// "linadd" of Sonnenburg et al. (2007).
#pragma once
#include <optional>

#include "kernels/program.h"

namespace kw {

struct LinearTerm {
  int64_t kernel;
  int32_t source, plane;  // plane: counted within its source
  double factor;
  std::vector<int32_t> slots;  // normalisations u

  bool operator==(const LinearTerm&) const = default;
};

// The result of a program as sums of terms; empty if a kernel is not linear.
std::optional<std::vector<LinearTerm>> linear_terms(const Program& program);

// Terms that share their source and normalisations.
struct LinearBundle {
  int32_t source;
  std::vector<int32_t> slots;
  std::vector<LinearTerm> terms;

  bool operator==(const LinearBundle&) const = default;
};

class Products;

class LinearPlan {
 public:
  // Examples of a will be summed up, for examples of b.
  LinearPlan(const Program& program, const Side& a, const Side& b);

  // out[m * b.n + j] += sum_r delta[r] k_m(a_rows[r], b_j). Returns false without
  // any effect if rows are cheaper, or the only way.
  bool add(IdSpan rows, std::span<const double> delta, int threads, double* out) const;
  // The part of sum_m weights[m] sum_r delta[r] k_m(a_rows[r], .) that combined(...) needs; empty
  // if rows are cheaper, or the only way.
  std::vector<std::unique_ptr<Sums>> compile(IdSpan rows, std::span<const double> delta,
                                             const double* weights, int threads) const;
  // out[j] += the compiled sum for b_j.
  void apply(const std::vector<std::unique_ptr<Sums>>& sums, int threads, double* out) const;
  // Plans with equal bundles can share what one of them has compiled.
  const std::vector<LinearBundle>& bundles() const { return bundles_; }
  // out (count x count): sum_m weights[m] k_m inside a set of examples of a, which is also b.
  bool block(IdSpan ids, const double* weights, int threads, double* out) const;
  // out[j] += sum_m weights[m] sum_r delta[r] k_m(a_rows[r], b_j), by sums or by the rows of one
  // kernel. Returns false without any effect if kernels cannot be combined.
  bool combine(IdSpan rows, std::span<const double> delta, const double* weights, int threads,
               double* out) const;
  // True if products with the matrices on all examples of a, which is also b, cost far less than
  // rows.
  bool multiplies() const;
  // These products; null where they do not. What there is no room for is made anew for every vector
  // if `keeps_parts` says so.
  std::unique_ptr<Products> products(int64_t room, int threads) const;
  // Memory of cached products, in total, and out[m] for kernel m.
  int64_t product_bytes() const;
  void product_bytes(double* out) const;
  bool keeps_parts() const;
  // True if most of their time does not depend on the number of examples.
  bool products_are_fixed() const;
  // True if those of single kernels take no longer than those of their sum.
  bool products_are_separate() const;

 private:
  using Bundle = LinearBundle;
  struct BlockPart;

  ProductCosts product_costs(const Bundle& bundle) const;

  BlockPart block_part(const Bundle& bundle, IdSpan ids, const double* weights) const;
  // The product of the normalisations of each example of a.
  std::vector<double> units(const Bundle& bundle, IdSpan ids) const;
  bool block_by_sums(const Bundle& bundle, IdSpan ids, const double* weights, int threads,
                     double* out) const;
  void add_rows(const Bundle& bundle, IdSpan rows, std::span<const double> delta,
                const double* weights, int threads, double* out) const;
  // The quantity of the only plane that a bundle needs of several; null where there is none.
  std::shared_ptr<const Quantity> alone_in(const Bundle& bundle) const;
  std::vector<double> plane_weights(const Bundle& bundle, const double* weights) const;
  std::unique_ptr<Sums> sum_up(const Bundle& bundle, IdSpan rows, std::span<const double> delta,
                               int threads, const double* planes) const;

  const Program& program_;
  const Side& a_;
  const Side& b_;
  bool linear_ = false;
  std::vector<Bundle> bundles_;
};

}  // namespace kw

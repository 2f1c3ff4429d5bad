// Kernels that are linear in shared quantities: k_m(x, y) is a sum of factor * u(x) * u(y) *
// plane(x, y), where u are normalisations.
//
// For these kernels sum_r delta_r k_m(x_r, .) can be computed as one weight vector, without kernel
// rows, if the quantity supports it (Quantity::sums). Sonnenburg et al. (2007) call this "linadd".
#pragma once
#include <optional>

#include "kernels/program.h"

namespace kw {

struct LinearTerm {
  int64_t kernel;
  int32_t source, plane;  // plane: index within its source
  double factor;
  std::vector<int32_t> slots;  // normalisations u

  bool operator==(const LinearTerm&) const = default;
};

// Writes the kernels of a program as sums of terms; empty if a kernel is not linear.
std::optional<std::vector<LinearTerm>> linear_terms(const Program& program);

// Terms with the same source and normalisations, which can share a weight vector.
struct LinearBundle {
  int32_t source;
  std::vector<int32_t> slots;
  std::vector<LinearTerm> terms;

  bool operator==(const LinearBundle&) const = default;
};

class Products;

// How sums of linear kernels are computed: by weight vectors, by rows of a combined kernel, or by
// matrix-vector products. Refers to the program and both sides, which must outlive the plan.
class LinearPlan {
 public:
  // For sums over examples of side a, evaluated on the examples of side b.
  LinearPlan(const Program& program, const Side& a, const Side& b);

  // out[m * b.n + j] += sum_r delta[r] k_m(a_rows[r], b_j). Returns false and does nothing if rows
  // are cheaper, or the only way.
  bool add(IdSpan rows, std::span<const double> delta, int threads, double* out) const;
  // Returns the weight vectors of sum_m weights[m] sum_r delta[r] k_m(a_rows[r], .), for `apply`;
  // empty if rows are cheaper, or the only way.
  std::vector<std::unique_ptr<Sums>> compile(IdSpan rows, std::span<const double> delta,
                                             const double* weights, int threads) const;
  // out[j] += the compiled sum at b_j.
  void apply(const std::vector<std::unique_ptr<Sums>>& sums, int threads, double* out) const;
  // Plans with equal bundles can share compiled sums.
  const std::vector<LinearBundle>& bundles() const { return bundles_; }
  // out (count x count): sum_m weights[m] k_m between the examples `ids` of a; a must be b.
  bool block(IdSpan ids, const double* weights, int threads, double* out) const;
  // out[j] += sum_m weights[m] sum_r delta[r] k_m(a_rows[r], b_j), by weight vectors or by rows of
  // the combined kernel. Returns false and does nothing if kernels cannot be combined.
  bool combine(IdSpan rows, std::span<const double> delta, const double* weights, int threads,
               double* out) const;
  // True if matrix-vector products with the kernel matrices of a cost far less than rows; a must be
  // b.
  bool multiplies() const;
  // True if this is so and `room` bytes are enough for the tables that products keep, or for the
  // part of them that must be kept. Builds no tables.
  bool multiplies_in(int64_t room) const;
  // The kernel matrices as operators; null if `multiplies()` is false. At most `room` bytes of
  // tables are kept; the others are recomputed in every product. The plan must outlive the result.
  std::unique_ptr<Products> products(int64_t room, int threads) const;
  // Bytes that products keep: the total, and out[m] for kernel m.
  int64_t product_bytes() const;
  void product_bytes(double* out) const;
  // True if most of the time of a product does not depend on the number of examples.
  bool products_are_fixed() const;
  // True if products of all single kernels cost no more than the product of their sum.
  bool products_are_separate() const;

 private:
  using Bundle = LinearBundle;
  struct BlockPart;

  ProductCosts product_costs(const Bundle& bundle) const;

  BlockPart block_part(const Bundle& bundle, IdSpan ids, const double* weights) const;
  // The product of the normalisations of a bundle, for each of the examples `ids` of a.
  std::vector<double> units(const Bundle& bundle, IdSpan ids) const;
  bool block_by_sums(const Bundle& bundle, IdSpan ids, const double* weights, int threads,
                     double* out) const;
  void add_rows(const Bundle& bundle, IdSpan rows, std::span<const double> delta,
                const double* weights, int threads, double* out) const;
  // If a bundle uses only one plane of a quantity with several: a quantity with this plane alone.
  // Otherwise null.
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

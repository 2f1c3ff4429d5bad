// An engine for kernels whose matrix-vector products are cheap (linear kernels, string kernels with
// tries or tables of words): a product takes time linear in the data. The engine owns the examples,
// and keeps neither rows nor outputs of single kernels. The update of the outputs by some examples
// is a product with a sparse vector.
#pragma once
#include <memory>

#include "kernels/linear.h"

namespace kw {

class LinearEngine {
 public:
  LinearEngine(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes, int threads);
  LinearEngine(const LinearEngine&) = delete;

  // True if all kernels on these examples have cheap products.
  static bool serves(const Program& program, const Side& side);

  int64_t n() const { return side().n; }
  int64_t n_kernels() const { return program().n_kernels(); }
  const Program& program() const { return *program_; }
  const Side& side() const { return side_; }
  int threads() const { return threads_; }
  int64_t cache_bytes() const { return cache_bytes_; }
  const LinearPlan& plan() const { return plan_; }
  // out (count x count): sum_m weights[m] k_m between the examples of a working set.
  void block(IdSpan ids, const double* weights, double* out) const;
  // out[i] += sum_m weights[m] sum_r delta[r] k_m(x_ids[r], x_i).
  void add(IdSpan ids, std::span<const double> delta, const double* weights, double* out) const;
  std::unique_ptr<LinearEngine> subset(IdSpan ids) const;

 private:
  std::shared_ptr<const Program> program_;
  Side side_;
  int64_t cache_bytes_;
  int threads_;
  LinearPlan plan_;
};

}  // namespace kw

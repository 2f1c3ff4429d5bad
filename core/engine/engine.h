// The engine for a few kernels: it holds the examples and the outputs of every kernel,
//
//   outputs[m, i] = sum_j alpha_j k_m(x_j, x_i).
//
// A solver reads the kernel matrix of a working set (`block`), changes some alphas (`add`), and
// reads the outputs. Kernel weights are applied afterwards, so that new weights need no kernel
// evaluation. The engine owns the examples, a cache of rows of the shared quantities, and M n
// outputs. A change of q alphas costs at most q n evaluations of every kernel.
#pragma once
#include <memory>
#include <vector>

#include "engine/shared_rows.h"
#include "kernels/linear.h"

namespace kw {

class Engine {
 public:
  explicit Engine(std::unique_ptr<SharedRows> rows);

  int64_t n() const { return side().n; }
  int64_t n_kernels() const { return program().n_kernels(); }
  const Program& program() const { return rows_->program(); }
  const Side& side() const { return rows_->side(); }
  int threads() const { return rows_->threads(); }
  int64_t cache_bytes() const { return rows_->cache_bytes(); }
  int64_t cached_rows() const { return rows_->cached(); }
  // Operations on the kernel matrices that need no rows, if all kernels are linear.
  const LinearPlan& plan() const { return plan_; }
  double* outputs() { return outputs_.data(); }

  // out (count x count): sum_m weights[m] k_m between the examples of a working set.
  void block(IdSpan ids, const double* weights, double* out);
  // outputs[m, i] += sum_r delta[r] k_m(x_ids[r], x_i).
  void add(IdSpan ids, std::span<const double> delta);
  // out[m, i] = sum_j v[j] k_m(x_j, x_i). Returns false if rows are cheaper or the only way.
  bool multiply(const double* v, double* out) const;
  // Returns an engine for some of the examples, with their outputs and cached rows.
  std::unique_ptr<Engine> subset(IdSpan ids);

 private:
  std::unique_ptr<SharedRows> rows_;
  std::vector<double> outputs_;
  LinearPlan plan_;
};

}  // namespace kw

// Who holds the examples. A solver asks for the kernel inside a working set (block), changes some
// alphas (add), and reads outputs[m, i] = sum_j alpha_j k_m(x_j, x_i). The rows of the shared
// quantities are cached; weights of kernels may change without any kernel being evaluated again.
#pragma once
#include <memory>
#include <vector>

#include "cache.h"
#include "linear.h"
#include "program.h"

namespace kw {

class Engine {
 public:
  Engine(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes, int threads);
  Engine(const Engine&) = delete;

  int64_t n() const { return side_.n; }
  int64_t n_kernels() const { return program_->n_kernels(); }
  double* outputs() { return outputs_.data(); }

  // out (count x count): sum_m weights[m] k_m inside a working set.
  void block(const int64_t* ids, int64_t count, const double* weights, double* out);
  // out (M x count x count): every k_m inside a working set.
  void blocks(const int64_t* ids, int64_t count, double* out) const;
  // outputs[m, i] += sum_r delta[r] k_m(x_ids[r], x_i).
  void add(const int64_t* ids, int64_t count, const double* delta);
  void diagonal(double* out) const;
  // The same examples and outputs, fewer of them; rows that were cached stay cached.
  std::unique_ptr<Engine> subset(const int64_t* ids, int64_t count) const;
  int64_t cached_rows() const { return cache_.size(); }

 private:
  void add_cached(const std::vector<int64_t>& ids, const std::vector<double>& delta,
                  const std::vector<const double*>& rows);
  void add_missing(const std::vector<int64_t>& ids, const std::vector<double>& delta);
  void accumulate(const RowView& view, double delta, double* stack);
  std::vector<const double*> find_rows(const int64_t* ids, int64_t count);

  std::shared_ptr<const Program> program_;
  Side side_;
  int64_t cache_bytes_;
  int threads_;
  std::vector<double> outputs_;
  RowCache cache_;
  LinearPlan linear_;
};

}  // namespace kw

// Decision functions of fixed examples and coefficients, for new examples:
//
//   f_c(x) = sum_m weights[c, m] sum_i coef[c, i] k_m(x_i, x)
//
// The sums are compiled once, as soon as there are so many new examples that it pays.
#pragma once
#include <mutex>

#include "linear.h"

namespace kw {

class Decision {
 public:
  // coef: outputs x a.n, weights: outputs x M.
  Decision(std::shared_ptr<const Program> program, Side a, std::vector<double> coef,
           std::vector<double> weights, int64_t outputs);

  int64_t outputs() const { return outputs_; }
  // out: outputs x b.n.
  void decide(const Side& b, int threads, double* out);

 private:
  using Compiled = std::vector<std::unique_ptr<Sums>>;

  void compile(const LinearPlan& plan, int threads);

  const std::shared_ptr<const Program> program_;
  const Side a_;
  const std::vector<double> coef_, weights_;
  const int64_t outputs_;
  std::vector<int64_t> rows_;
  std::mutex mutex_;
  std::vector<LinearBundle> bundles_;  // of the plan that compiled the sums
  std::vector<Compiled> compiled_;     // one per output
};

}  // namespace kw

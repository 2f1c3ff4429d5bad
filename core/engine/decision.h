// Decision functions of fixed examples and coefficients, for new examples:
//
//   f_c(x) = sum_m weights[c, m] sum_i coef[c, i] k_m(x_i, x)
//
// The sums are compiled once, as soon as there are so many new examples that it pays.
#pragma once
#include <atomic>

#include "kernels/linear.h"

namespace kw {

class Decision {
 public:
  // coef: outputs x a.n, weights: outputs x M.
  Decision(std::shared_ptr<const Program> program, Side a, std::vector<double> coef,
           std::vector<double> weights, int64_t outputs);

  int64_t outputs() const { return outputs_; }
  ~Decision();
  // out: outputs x b.n. It may be called from several threads.
  void decide(const Side& b, int threads, double* out);

 private:
  // The sums of each output, compiled by plans with equal bundles. Once in the list it is never
  // changed: no thread waits for another one, and a fork sees no partial state.
  struct Compiled {
    std::vector<LinearBundle> bundles;
    std::vector<std::vector<std::unique_ptr<Sums>>> sums;
    const Compiled* next = nullptr;
  };

  std::span<const double> coefficients(int64_t output) const {
    return std::span(coef_).subspan(output * a_.n, a_.n);
  }
  bool combine(const LinearPlan& plan, int threads, int64_t n, double* out) const;
  const Compiled* known(const LinearPlan& plan) const;
  const Compiled* compile(const LinearPlan& plan, int threads);

  const std::shared_ptr<const Program> program_;
  const Side a_;
  const std::vector<double> coef_, weights_;
  const int64_t outputs_;
  const std::vector<int64_t> rows_;
  std::atomic<const Compiled*> compiled_ = nullptr;  // the first one of a list
};

}  // namespace kw

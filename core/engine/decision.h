// Decision functions of fixed examples and coefficients, evaluated on new examples:
//
//   f_c(x) = sum_m weights[c, m] sum_i coef[c, i] k_m(x_i, x)
//
// The sums over i are compiled once (into weight vectors, tries or tables of words) if kernel rows
// would cost more. A Decision owns its examples, coefficients and compiled sums.
#pragma once
#include <atomic>

#include "kernels/linear.h"

namespace kw {

class Decision {
 public:
  // coef: (outputs, a.n); weights: (outputs, M).
  Decision(std::shared_ptr<const Program> program, Side a, std::vector<double> coef,
           std::vector<double> weights, int64_t outputs);

  int64_t outputs() const { return outputs_; }
  ~Decision();
  // out: (outputs, b.n). Thread-safe.
  void decide(const Side& b, int threads, double* out);

 private:
  // The compiled sums of each output, for plans with equal bundles. An entry of the list never
  // changes once it is in: readers need no lock, and a fork never copies a partial state.
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
  std::atomic<const Compiled*> compiled_ = nullptr;  // head of a linked list
};

}  // namespace kw

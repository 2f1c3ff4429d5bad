#include "decision.h"

#include <algorithm>
#include <numeric>

#include "evaluate.h"

namespace kw {

Decision::Decision(std::shared_ptr<const Program> program, Side a, std::vector<double> coef,
                   std::vector<double> weights, int64_t outputs)
    : program_(std::move(program)),
      a_(std::move(a)),
      coef_(std::move(coef)),
      weights_(std::move(weights)),
      outputs_(outputs),
      rows_(a_.n) {
  program_->check(a_);
  std::iota(rows_.begin(), rows_.end(), 0);
}

void Decision::decide(const Side& b, int threads, double* out) {
  program_->check(a_, b);
  const std::lock_guard<std::mutex> lock(mutex_);
  const LinearPlan plan(*program_, a_, b);
  if (compiled_.empty() || plan.bundles() != bundles_) compile(plan, threads);
  if (compiled_.empty())
    return kw::decide(*program_, a_, b, coef_.data(), weights_.data(), outputs_, threads, out);
  std::fill_n(out, outputs_ * b.n, 0.0);
  for (int64_t c = 0; c < outputs_; ++c) plan.apply(compiled_[c], threads, out + c * b.n);
}

// Leaves nothing compiled where rows are cheaper.
void Decision::compile(const LinearPlan& plan, int threads) {
  compiled_.clear();
  bundles_ = plan.bundles();
  for (int64_t c = 0; c < outputs_; ++c) {
    compiled_.push_back(plan.compile(rows_.data(), coef_.data() + c * a_.n, a_.n,
                                     weights_.data() + c * program_->n_kernels(), threads));
    if (compiled_.back().empty()) return compiled_.clear();
  }
}

}  // namespace kw

#include "engine/decision.h"

#include <algorithm>
#include <utility>

#include "engine/evaluate.h"

namespace kw {

Decision::Decision(std::shared_ptr<const Program> program, Side a, std::vector<double> coef,
                   std::vector<double> weights, int64_t outputs)
    : program_(std::move(program)),
      a_(std::move(a)),
      coef_(std::move(coef)),
      weights_(std::move(weights)),
      outputs_(outputs),
      rows_(all_ids(a_.n)) {
  program_->check(a_);
}

Decision::~Decision() {
  for (const Compiled* one = compiled_; one;) delete std::exchange(one, one->next);
}

void Decision::decide(const Side& b, int threads, double* out) {
  program_->check(a_, b);
  const LinearPlan plan(*program_, a_, b);
  const Compiled* found = known(plan);
  if (!found) found = compile(plan, threads);
  std::fill_n(out, outputs_ * b.n, 0.0);
  if (!found && !combine(plan, threads, b.n, out))
    return kw::decide(*program_, a_, b, coef_.data(), weights_.data(), outputs_, threads, out);
  if (!found) return;
  for (int64_t c = 0; c < outputs_; ++c) plan.apply(found->sums[c], threads, out + c * b.n);
}

// Row by row, after combining the kernels of each output into one.
bool Decision::combine(const LinearPlan& plan, int threads, int64_t n, double* out) const {
  for (int64_t c = 0; c < outputs_; ++c)
    if (!plan.combine(rows_, coefficients(c), weights_.data() + c * program_->n_kernels(), threads,
                      out + c * n))
      return false;
  return true;
}

const Decision::Compiled* Decision::known(const LinearPlan& plan) const {
  const Compiled* one = compiled_;
  while (one && one->bundles != plan.bundles()) one = one->next;
  return one;
}

// Returns null if evaluating rows is cheaper. If another thread compiled the same plan meanwhile,
// its result is used.
const Decision::Compiled* Decision::compile(const LinearPlan& plan, int threads) {
  auto fresh = std::make_unique<Compiled>();
  fresh->bundles = plan.bundles();
  for (int64_t c = 0; c < outputs_; ++c) {
    fresh->sums.push_back(
        plan.compile(rows_, coefficients(c), weights_.data() + c * program_->n_kernels(), threads));
    if (fresh->sums.back().empty()) return nullptr;
  }
  if (const Compiled* other = known(plan)) return other;
  fresh->next = compiled_;
  while (!compiled_.compare_exchange_weak(fresh->next, fresh.get())) {
  }
  return fresh.release();
}

}  // namespace kw

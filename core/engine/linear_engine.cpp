#include "engine/linear_engine.h"

#include <stdexcept>

namespace kw {

LinearEngine::LinearEngine(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes,
                           int threads)
    : program_((program->check(side, side), std::move(program))),
      side_(std::move(side)),
      cache_bytes_(cache_bytes),
      threads_(threads),
      plan_(*program_, side_, side_) {}

bool LinearEngine::serves(const Program& program, const Side& side) {
  program.check(side, side);
  return LinearPlan(program, side, side).multiplies();
}

void LinearEngine::block(IdSpan ids, const double* weights, double* out) const {
  if (!plan_.block(ids, weights, threads_, out))
    throw std::logic_error("kernels that multiply vectors can be combined");
}

void LinearEngine::add(IdSpan ids, std::span<const double> delta, const double* weights,
                       double* out) const {
  if (!plan_.combine(ids, delta, weights, threads_, out))
    throw std::logic_error("kernels that multiply vectors can be combined");
}

std::unique_ptr<LinearEngine> LinearEngine::subset(IdSpan ids) const {
  return std::make_unique<LinearEngine>(program_, side_.subset(ids), cache_bytes_ / 2, threads_);
}

}  // namespace kw

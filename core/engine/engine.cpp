#include "engine/engine.h"

namespace kw {

Engine::Engine(std::unique_ptr<SharedRows> rows)
    : rows_(std::move(rows)), outputs_(n_kernels() * n(), 0.0), plan_(program(), side(), side()) {}

void Engine::block(IdSpan ids, const double* weights, double* out) {
  if (plan_.block(ids, weights, threads(), out)) return;
  const std::vector<Group> groups = program().groups_with(weights);
  rows_->block(ids, out, [&](const RowView& view, double* stack, double* values) {
    std::fill_n(values, view.n, 0.0);
    program().run(groups, view, stack, [&](int64_t m, const double* kernel) {
      if (weights[m] != 0.0) simd().axpy(weights[m], kernel, values, view.n);
    });
  });
}

void Engine::add(IdSpan ids, std::span<const double> delta) {
  if (plan_.add(ids, delta, threads(), outputs_.data())) return;
  rows_->each_row(ids, [&](int64_t r, const RowView& view, double* stack, int64_t) {
    program().run(program().groups(), view, stack, [&](int64_t m, const double* values) {
      simd().axpy(delta[r], values, outputs_.data() + m * n() + view.j0, view.n);
    });
  });
}

bool Engine::multiply(const double* v, double* out) const {
  std::fill_n(out, outputs_.size(), 0.0);
  return plan_.add(all_ids(n()), {v, size_t(n())}, threads(), out);
}

std::unique_ptr<Engine> Engine::subset(IdSpan ids) {
  const int64_t count = int64_t(ids.size());
  auto smaller = std::make_unique<Engine>(rows_->subset(ids));
  for (int64_t m = 0; m < n_kernels(); ++m)
    for (int64_t i = 0; i < count; ++i)
      smaller->outputs_[m * count + i] = outputs_[m * n() + ids[i]];
  return smaller;
}

}  // namespace kw

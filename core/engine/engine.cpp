#include "engine/engine.h"

#include "engine/evaluate.h"

namespace kw {

Engine::Engine(std::unique_ptr<SharedRows> rows)
    : rows_(std::move(rows)),
      outputs_(n_kernels() * n(), 0.0),
      linear_(rows_->program(), rows_->side(), rows_->side()) {}

void Engine::block(IdSpan ids, const double* weights, double* out) {
  if (linear_.block(ids, weights, rows_->threads(), out)) return;
  const Program& program = rows_->program();
  const std::vector<Group> groups = program.groups_with(weights);
  rows_->block(ids, out, [&](const RowView& view, double* stack, double* values) {
    std::fill_n(values, view.n, 0.0);
    program.run(groups, view, stack, [&](int64_t m, const double* kernel) {
      if (weights[m] != 0.0) simd().axpy(weights[m], kernel, values, view.n);
    });
  });
}

void Engine::blocks(IdSpan ids, double* out) const {
  const Side work = rows_->side().subset(ids);
  evaluate(rows_->program(), work, work, rows_->threads(), out);
}

void Engine::add(IdSpan ids, std::span<const double> delta) {
  if (linear_.add(ids, delta, rows_->threads(), outputs_.data())) return;
  const Program& program = rows_->program();
  rows_->each_row(ids, [&](int64_t r, const RowView& view, double* stack, int64_t) {
    program.run(program.groups(), view, stack, [&](int64_t m, const double* values) {
      simd().axpy(delta[r], values, outputs_.data() + m * n() + view.j0, view.n);
    });
  });
}

std::unique_ptr<Products> Engine::products() const {
  if (!has_products()) return nullptr;
  return linear_.products(rows_->cache_bytes(), rows_->threads());
}

bool Engine::multiply(const double* v, double* out) const {
  std::fill_n(out, n_kernels() * n(), 0.0);
  return linear_.add(all_ids(n()), {v, size_t(n())}, rows_->threads(), out);
}

void Engine::diagonal(double* out) const { kw::diagonal(rows_->program(), rows_->side(), out); }

std::unique_ptr<Engine> Engine::subset(IdSpan ids) {
  const int64_t count = int64_t(ids.size());
  auto smaller = std::make_unique<Engine>(rows_->subset(ids));
  for (int64_t m = 0; m < n_kernels(); ++m)
    for (int64_t i = 0; i < count; ++i)
      smaller->outputs_[m * count + i] = outputs_[m * n() + ids[i]];
  return smaller;
}

}  // namespace kw

#include "engine/stack.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/evaluate.h"
#include "engine/sweep.h"

namespace kw {

constexpr int64_t kPart = 2048;  // outputs that stay in the nearest cache while rows are added

Stack::Stack(int64_t n, int64_t kernels, int threads)
    : n_(n),
      kernels_(kernels),
      threads_(threads),
      values_(n * n * kernels),
      outputs_(n * kernels, 0.0) {}

Stack::Stack(const Program& program, const Side& side, int threads)
    : Stack(side.n, program.n_kernels(), threads) {
  program.check(side, side);
  std::vector<int64_t> rows(n_);
  std::iota(rows.begin(), rows.end(), 0);
  sweep(
      program, side, rows.data(), n_, side, threads_,
      [&](int64_t r, const RowView& view, double* stack, int64_t) {
        program.run(program.groups(), view, stack, [&](int64_t m, const double* values) {
          double* out = pair(r, view.j0) + m;
          for (int64_t j = 0; j < view.n; ++j) out[j * kernels_] = values[j];
        });
      },
      Pairs{.upper = true, .exact = true});
  run_team(threads_, n_, [&](int64_t i, int) {
    for (int64_t j = 0; j < i; ++j) std::copy_n(pair(j, i), kernels_, pair(i, j));
  });
}

void Stack::block(const int64_t* ids, int64_t count, const double* weights, double* out) const {
  run_team(threads_, count, [&](int64_t i, int) {
    for (int64_t j = i; j < count; ++j)
      out[i * count + j] = simd().dot(pair(ids[i], ids[j]), weights, kernels_);
  });
  mirror_upper(out, count);
}

void Stack::blocks(const int64_t* ids, int64_t count, double* out) const {
  run_team(threads_, count, [&](int64_t i, int) {
    for (int64_t j = 0; j < count; ++j) {
      const double* values = pair(ids[i], ids[j]);
      for (int64_t m = 0; m < kernels_; ++m) out[(m * count + i) * count + j] = values[m];
    }
  });
}

void Stack::add(const int64_t* ids, int64_t count, const double* delta) {
  const int64_t total = n_ * kernels_, parts = (total + kPart - 1) / kPart;
  run_team(threads_, parts, [&](int64_t part, int) {
    const int64_t first = part * kPart, length = std::min(kPart, total - first);
    for (int64_t r = 0; r < count; ++r)
      simd().axpy(delta[r], pair(ids[r], 0) + first, outputs_.data() + first, length);
  });
}

void Stack::diagonal(double* out) const {
  for (int64_t i = 0; i < n_; ++i)
    for (int64_t m = 0; m < kernels_; ++m) out[m * n_ + i] = pair(i, i)[m];
}

std::unique_ptr<Stack> Stack::subset(const int64_t* ids, int64_t count) const {
  std::unique_ptr<Stack> smaller(new Stack(count, kernels_, threads_));
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(outputs_.data() + ids[i] * kernels_, kernels_,
                smaller->outputs_.data() + i * kernels_);
    for (int64_t j = 0; j < count; ++j)
      std::copy_n(pair(ids[i], ids[j]), kernels_, smaller->pair(i, j));
  }
  return smaller;
}

}  // namespace kw

#include "engine/evaluate.h"

#include <span>
#include <utility>
#include <vector>

#include "engine/sweep.h"
#include "kernels/linear.h"
#include "system/recycled.h"

namespace kw {
namespace {

// The outputs that use an example, with their coefficients, in order of the examples. With one
// against one only few do.
class Users {
 public:
  // coef: (outputs, n).
  Users(const double* coef, int64_t outputs, int64_t n) : first_(n + 1, 0) {
    for (int64_t c = 0; c < outputs; ++c)
      for (int64_t r = 0; r < n; ++r) first_[r + 1] += coef[c * n + r] != 0.0;
    for (int64_t r = 0; r < n; ++r) first_[r + 1] += first_[r];
    users_.resize(first_[n]);
    std::vector<int64_t> next(first_.begin(), first_.end() - 1);
    for (int64_t c = 0; c < outputs; ++c)
      for (int64_t r = 0; r < n; ++r)
        if (const double one = coef[c * n + r]; one != 0.0) users_[next[r]++] = {c, one};
  }

  std::span<const std::pair<int64_t, double>> of(int64_t r) const {
    return std::span(users_).subspan(first_[r], first_[r + 1] - first_[r]);
  }

 private:
  std::vector<int64_t> first_;
  std::vector<std::pair<int64_t, double>> users_;
};

}  // namespace

// By tiles that are copied to a contiguous buffer: whole columns of a matrix of 2^k columns would
// share one set of the cache.
void mirror_upper(double* matrix, int64_t n) {
  constexpr int64_t kTile = 32;
  double tile[kTile][kTile + 1];
  for (int64_t i0 = 0; i0 < n; i0 += kTile)
    for (int64_t j0 = 0; j0 <= i0; j0 += kTile) {
      const int64_t i1 = std::min(n, i0 + kTile), j1 = std::min(n, j0 + kTile);
      for (int64_t j = j0; j < j1; ++j)
        for (int64_t i = i0; i < i1; ++i) tile[i - i0][j - j0] = matrix[j * n + i];
      for (int64_t i = std::max(i0, j0 + 1); i < i1; ++i)
        std::copy_n(tile[i - i0], std::min(i, j1) - j0, matrix + i * n + j0);
    }
}

void reorder(double* matrix, IdSpan order) {
  const int64_t n = int64_t(order.size());
  const Buffer<double> copy(matrix, matrix + n * n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) matrix[order[i] * n + order[j]] = copy[i * n + j];
}

void evaluate(const Program& program, const Side& a, const Side& b, int threads, double* out) {
  program.check(a, b);
  const bool same = &a == &b;
  const std::vector<int64_t> rows = all_ids(a.n);
  sweep(
      {program, a, rows, b, threads},
      [&](int64_t r, const RowView& view, double* stack, int64_t) {
        program.run(program.groups(), view, stack, [&](int64_t m, const double* values) {
          std::copy_n(values, view.n, out + (m * a.n + r) * b.n + view.j0);
        });
      },
      Pairs{.upper = same, .exact = true});
  if (same)
    run_team(threads, program.n_kernels(),
             [&](int64_t m, int) { mirror_upper(out + m * a.n * a.n, a.n); });
}

void blocks(const Program& program, const Side& side, IdSpan ids, int threads, double* out) {
  const Side work = side.subset(ids);
  evaluate(program, work, work, threads, out);
}

void diagonal(const Program& program, const Side& a, double* out) {
  program.check(a, a);
  std::vector<double> values(program.n_planes() * a.n), stack(program.stack_size());
  Planes planes(program.n_planes());
  double* next = values.data();
  for (size_t s = 0; s < program.sources().size(); ++s) {
    program.sources()[s]->diagonal(*a.tables[s], next);
    next += program.sources()[s]->planes() * a.n;
  }
  for (int64_t i = 0; i < a.n; ++i) {
    for (int64_t p = 0; p < program.n_planes(); ++p) planes.set(p, values.data() + p * a.n + i);
    program.run(program.groups(), planes.view(a, a, i, i, 1, true), stack.data(),
                [&](int64_t m, const double* value) { out[m * a.n + i] = *value; });
  }
}

void quadratic(const Program& program, const Side& a, const double* coef, double* out) {
  program.check(a, a);
  const std::vector<int64_t> rows = all_ids(a.n);
  std::fill_n(out, program.n_kernels(), 0.0);
  const int threads = 1;  // all pairs add to the same sums
  sweep({program, a, rows, a, threads},
        [&](int64_t r, const RowView& tile, double* stack, int64_t) {
          const int64_t n = std::min(tile.n, r + 1 - tile.j0);  // up to the diagonal
          if (n <= 0) return;
          const RowView view = {tile.a, tile.b, tile.row, tile.j0, n, tile.planes};
          const bool last = tile.j0 + n == r + 1;
          program.run(program.groups(), view, stack, [&](int64_t m, const double* values) {
            const double twice = 2.0 * simd().dot(coef + tile.j0, values, n);
            out[m] += coef[r] * (last ? twice - coef[r] * values[n - 1] : twice);
          });
        });
}

void decide(const Program& program, const Side& a, const Side& b, const double* coef,
            const double* weights, int64_t outputs, int threads, double* out) {
  program.check(a, b);
  const int64_t kernels = program.n_kernels();
  std::fill_n(out, outputs * b.n, 0.0);
  std::vector<double> used(kernels, 0.0);
  for (int64_t c = 0; c < outputs; ++c)
    for (int64_t m = 0; m < kernels; ++m)
      if (weights[c * kernels + m] != 0.0) used[m] = 1.0;
  const Users users(coef, outputs, a.n);
  const std::vector<Group> groups = program.groups_with(used.data());
  const std::vector<int64_t> rows = all_ids(a.n);
  sweep({program, a, rows, b, threads},
        [&](int64_t r, const RowView& view, double* stack, int64_t) {
          program.run(groups, view, stack, [&](int64_t m, const double* values) {
            for (const auto& [c, one] : users.of(r)) {
              const double factor = weights[c * kernels + m] * one;
              if (factor != 0.0) simd().axpy(factor, values, out + c * b.n + view.j0, view.n);
            }
          });
        });
}

void sum_each(const Program& program, const Side& a, const Side& b, const double* coef,
              int64_t outputs, int threads, double* out) {
  program.check(a, b);
  const int64_t kernels = program.n_kernels(), each = kernels * b.n;
  const std::vector<int64_t> rows = all_ids(a.n);
  const LinearPlan plan(program, a, b);
  std::fill_n(out, outputs * each, 0.0);
  int64_t done = 0;
  while (done < outputs &&
         plan.add(rows, {coef + done * a.n, size_t(a.n)}, threads, out + done * each))
    ++done;
  if (done == outputs) return;
  std::fill_n(out, done * each, 0.0);
  const Users users(coef, outputs, a.n);
  sweep({program, a, rows, b, threads},
        [&](int64_t r, const RowView& view, double* stack, int64_t) {
          program.run(program.groups(), view, stack, [&](int64_t m, const double* values) {
            for (const auto& [c, one] : users.of(r))
              simd().axpy(one, values, out + c * each + m * b.n + view.j0, view.n);
          });
        });
}

}  // namespace kw

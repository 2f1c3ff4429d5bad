#include "engine/stack.h"

#include <algorithm>
#include <vector>

#include "engine/evaluate.h"
#include "engine/sweep.h"

namespace kw {

// Length of the parts of outputs that are updated together, so that they stay in the first-level
// cache.
constexpr int64_t kPart = 128;

Stack::Stack(int64_t n, int64_t kernels, int threads)
    : n_(n),
      kernels_(kernels),
      tiles_((n + kTile - 1) / kTile),
      threads_(threads),
      values_(n * tiles_ * kernels * kTile),
      outputs_(n * kernels, 0.0) {
  if (n_ % kTile == 0) return;
  for (int64_t i = 0; i < n_; ++i)  // padding after the last example
    for (int64_t m = 0; m < kernels_; ++m)
      std::fill(values(i, tiles_ - 1, m) + n_ % kTile, values(i, tiles_ - 1, m) + kTile, 0.0);
}

Stack::Stack(const Program& program, const Side& side, int threads)
    : Stack(side.n, program.n_kernels(), threads) {
  program.check(side, side);
  const std::vector<int64_t> rows = all_ids(n_);
  sweep(
      {program, side, rows, side, threads_},
      [&](int64_t r, const RowView& view, double* stack, int64_t) {
        program.run(program.groups(), view, stack, [&](int64_t m, const double* row) {
          const int64_t end = view.j0 + view.n;
          for (int64_t j = view.j0; j < end;) {
            const int64_t next = std::min(end, (j / kTile + 1) * kTile);
            std::copy(row + j - view.j0, row + next - view.j0, values(r, j / kTile, m) + j % kTile);
            j = next;
          }
        });
      },
      Pairs{.upper = true, .exact = true});
  run_team(threads_, tiles_, [&](int64_t tile, int) { mirror(tile); });
}

// Fills the values of a tile with earlier examples from the rows of these examples.
void Stack::mirror(int64_t tile) {
  const int64_t first = tile * kTile, last = std::min(n_, first + kTile);
  for (int64_t other = 0; other <= tile; ++other)
    for (int64_t m = 0; m < kernels_; ++m)
      for (int64_t j = other * kTile; j < std::min(last, (other + 1) * kTile); ++j) {
        const double* row = values(j, tile, m);
        for (int64_t i = std::max(first, j + 1); i < last; ++i)
          values(i, other, m)[j % kTile] = row[i - first];
      }
}

void Stack::block(IdSpan ids, const double* weights, double* out) const {
  const int64_t count = int64_t(ids.size());
  std::vector<int64_t> rows;
  std::vector<double> factors;
  for (int64_t m = 0; m < kernels_; ++m)
    if (weights[m] != 0) {
      rows.push_back(m);
      factors.push_back(weights[m]);
    }
  std::vector<char> wanted(tiles_ + 1, 0);
  for (int64_t i = 0; i < count; ++i) wanted[ids[i] / kTile] = 1;
  // The first tile to compute for each example; ids are usually sorted.
  std::vector<int64_t> start(count);
  for (int64_t i = count - 1, first = tiles_; i >= 0; --i)
    start[i] = first = std::min(first, ids[i] / kTile);
  std::vector<double> sums(threads_ * tiles_ * kTile);
  run_team(threads_, count, [&](int64_t i, int worker) {
    double* sum = sums.data() + worker * tiles_ * kTile;
    for (int64_t tile = start[i]; tile < tiles_;) {
      int64_t end = tile;
      while (wanted[end]) ++end;
      simd().combine(values(ids[i], tile, 0), kernels_ * kTile, rows.data(), factors.data(),
                     int64_t(rows.size()), sum + tile * kTile, end - tile);
      tile = end + 1;
    }
    for (int64_t j = i; j < count; ++j) out[i * count + j] = sum[ids[j]];
  });
  mirror_upper(out, count);
}

void Stack::blocks(IdSpan ids, double* out) const {
  const int64_t count = int64_t(ids.size());
  run_team(threads_, count, [&](int64_t i, int) {
    for (int64_t m = 0; m < kernels_; ++m)
      for (int64_t j = 0; j < count; ++j)
        out[(m * count + i) * count + j] = value(ids[i], ids[j], m);
  });
}

void Stack::add(IdSpan ids, std::span<const double> delta) {
  const int64_t count = int64_t(ids.size());
  const int64_t total = tiles_ * kernels_, parts = (total + kPart - 1) / kPart;
  run_team(threads_, parts, [&](int64_t part, int) {
    const int64_t first = part * kPart, last = std::min(total, first + kPart);
    double sums[kPart * kTile] = {};
    const int64_t size = (last - first) * kTile, fours = count - count % 4;
    for (int64_t r = 0; r < fours; r += 4) {
      const double* const rows[] = {values(ids[r], 0, first), values(ids[r + 1], 0, first),
                                    values(ids[r + 2], 0, first), values(ids[r + 3], 0, first)};
      simd().axpy4(delta.data() + r, rows, sums, size);
    }
    for (int64_t r = fours; r < count; ++r)
      simd().axpy(delta[r], values(ids[r], 0, first), sums, size);
    for (int64_t row = first; row < last; ++row) {
      const int64_t m = row % kernels_, j = row / kernels_ * kTile;
      simd().add(sums + (row - first) * kTile, outputs_.data() + m * n_ + j,
                 std::min(kTile, n_ - j));
    }
  });
}

void Stack::diagonal(double* out) const {
  for (int64_t i = 0; i < n_; ++i)
    for (int64_t m = 0; m < kernels_; ++m) out[m * n_ + i] = value(i, i, m);
}

std::unique_ptr<Stack> Stack::subset(IdSpan ids) const {
  const int64_t count = int64_t(ids.size());
  std::unique_ptr<Stack> smaller(new Stack(count, kernels_, threads_));
  for (int64_t m = 0; m < kernels_; ++m)
    for (int64_t j = 0; j < count; ++j)
      smaller->outputs_[m * count + j] = outputs_[m * n_ + ids[j]];
  run_team(threads_, count, [&](int64_t i, int) {
    for (int64_t tile = 0; tile < smaller->tiles_; ++tile) {
      const int64_t first = tile * kTile, last = std::min(count, first + kTile);
      for (int64_t m = 0; m < kernels_; ++m)
        for (int64_t j = first; j < last; ++j)
          smaller->values(i, tile, m)[j - first] = value(ids[i], ids[j], m);
    }
  });
  return smaller;
}

}  // namespace kw

// Rows of shared quantities: computed in tiles, kept in a cache, handed to whoever makes kernels of
// them.
#pragma once
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "cache.h"
#include "sweep.h"

namespace kw {

class SharedRows {
 public:
  SharedRows(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes, int threads);
  SharedRows(const SharedRows&) = delete;

  const Program& program() const { return *program_; }
  const Side& side() const { return side_; }
  int threads() const { return threads_; }
  int64_t cache_bytes() const { return cache_bytes_; }
  int64_t cached() const { return cache_.size(); }

  // The rows of some examples against all: calls visit(r, view, stack, worker) for every position
  // r of `ids` and every column tile; calls for different column tiles may run at the same time.
  template <typename Visit>
  void each_row(const int64_t* ids, int64_t count, Visit&& visit);

  // The rows of some examples against each other: calls visit(r, view, stack, worker) for every
  // position r of `ids`, the views covering the positions from r on, at once or in tiles; calls may
  // run at the same time.
  template <typename Visit>
  void each_upper_row(const int64_t* ids, int64_t count, Visit&& visit);

  // The same for some of the examples. The two share the memory of the cache, half each; rows that
  // were cached stay cached as far as they fit.
  std::unique_ptr<SharedRows> subset(const int64_t* ids, int64_t count);

 private:
  template <typename Visit>
  void each_known_row(const std::vector<int64_t>& positions, const int64_t* ids,
                      const std::vector<const double*>& rows, Visit& visit);
  template <typename Visit>
  void each_new_row(const std::vector<int64_t>& positions, const int64_t* ids, Visit& visit);
  template <typename Visit>
  void each_upper_tile(const Side& work, Visit& visit) const;
  // Planes of rows [u0, u1) of `rest` against all of it: planes x rows x n, on and above the
  // diagonal.
  std::vector<double> planes_of(const Side& rest, int64_t u0, int64_t u1) const;
  // How many rows of so many values are worked on at a time.
  static int64_t strip_of(int64_t values);

  std::shared_ptr<const Program> program_;
  Side side_;
  int64_t cache_bytes_;
  int threads_;
  RowCache cache_;
};

template <typename Visit>
void SharedRows::each_row(const int64_t* ids, int64_t count, Visit&& visit) {
  std::vector<int64_t> known, unknown;
  std::vector<const double*> rows;
  cache_.start_turn();
  for (int64_t r = 0; r < count; ++r) {
    if (const double* row = cache_.find(ids[r])) {
      cache_.keep(ids[r]);
      known.push_back(r);
      rows.push_back(row);
    } else {
      unknown.push_back(r);
    }
  }
  each_known_row(known, ids, rows, visit);
  each_new_row(unknown, ids, visit);
}

template <typename Visit>
void SharedRows::each_known_row(const std::vector<int64_t>& positions, const int64_t* ids,
                                const std::vector<const double*>& rows, Visit& visit) {
  if (positions.empty()) return;
  const int64_t tiles = (side_.n + kTileColumns - 1) / kTileColumns, planes = program_->n_planes();
  run_team(threads_, tiles, [&](int64_t t, int worker) {
    const int64_t j0 = t * kTileColumns, n = std::min(side_.n - j0, kTileColumns);
    std::vector<double> stack(program_->stack_size() * kTileColumns);
    Planes values(planes);
    for (size_t k = 0; k < positions.size(); ++k) {
      for (int64_t p = 0; p < planes; ++p) values.set(p, rows[k] + p * side_.n + j0);
      values.measure(n);
      visit(positions[k], values.view(side_, side_, ids[positions[k]], j0, n), stack.data(),
            worker);
      if (k % kTileRows == 0) check_interrupt();
    }
  });
}

template <typename Visit>
void SharedRows::each_new_row(const std::vector<int64_t>& positions, const int64_t* ids,
                              Visit& visit) {
  std::vector<int64_t> examples;
  std::vector<double*> kept;
  for (int64_t position : positions) {
    examples.push_back(ids[position]);
    kept.push_back(cache_.insert(ids[position]));
  }
  try {
    sweep(*program_, side_, examples.data(), int64_t(examples.size()), side_, threads_,
          [&](int64_t r, const RowView& view, double* stack, int worker) {
            if (kept[r])
              for (int64_t p = 0; p < program_->n_planes(); ++p)
                std::copy_n(view.planes[p], view.n, kept[r] + p * side_.n + view.j0);
            visit(positions[r], view, stack, worker);
          });
  } catch (...) {  // rows that were not filled must not be found
    for (int64_t example : examples) cache_.drop(example);
    throw;
  }
}

template <typename Visit>
void SharedRows::each_upper_tile(const Side& work, Visit& visit) const {
  std::vector<int64_t> all(work.n);
  std::iota(all.begin(), all.end(), 0);
  sweep(*program_, work, all.data(), work.n, work, threads_, visit, Pairs{.upper = true});
}

// What the cache knows of a pair, from either side, is taken from there; the rest, pairs of
// examples that are both unknown, is computed first: a strip of rows at a time, so that many
// examples or planes do not take much memory.
template <typename Visit>
void SharedRows::each_upper_row(const int64_t* ids, int64_t count, Visit&& visit) {
  std::vector<const double*> known(count);
  std::vector<int64_t> unknown, position(count, -1);
  for (int64_t r = 0; r < count; ++r) {
    known[r] = cache_.find(ids[r]);
    if (known[r]) continue;
    position[r] = int64_t(unknown.size());
    unknown.push_back(ids[r]);
  }
  const int64_t u = int64_t(unknown.size()), planes = program_->n_planes();
  const Side rest = side_.subset(unknown.data(), u), work = side_.subset(ids, count);
  if (u == count) return each_upper_tile(work, visit);
  std::vector<double> fresh;  // planes of the unknown rows [u0, u1)
  int64_t u0 = 0, u1 = 0;
  const auto visit_row = [&](int64_t r, int worker) {
    const int64_t n = count - r;
    std::vector<double> values(planes * n), stack(program_->stack_size() * n);
    Planes pointers(planes);
    for (int64_t p = 0; p < planes; ++p) {
      double* row = values.data() + p * n;
      pointers.set(p, row);
      const int64_t plane = p * side_.n;
      for (int64_t j = r; j < count; ++j) {
        if (known[r])
          row[j - r] = known[r][plane + ids[j]];
        else if (known[j])
          row[j - r] = known[j][plane + ids[r]];
        else
          row[j - r] = fresh[(p * (u1 - u0) + position[r] - u0) * u + position[j]];
      }
    }
    pointers.measure(n);
    visit(r, pointers.view(work, work, r, r, n), stack.data(), worker);
  };
  for (int64_t r0 = 0, rows; r0 < count; r0 += rows, u0 = u1) {
    rows = std::min(strip_of(planes * u), count - r0);
    u1 = u0 + std::count(known.begin() + r0, known.begin() + r0 + rows, nullptr);
    fresh = planes_of(rest, u0, u1);
    run_team(threads_, rows, [&](int64_t r, int worker) { visit_row(r0 + r, worker); });
  }
}

}  // namespace kw

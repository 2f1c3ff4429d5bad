// Rows of shared quantities: computed in tiles, kept in a cache, handed to whoever makes kernels of
// them.
#pragma once
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/cache.h"
#include "engine/evaluate.h"
#include "engine/sweep.h"

namespace kw {

// values[order[0]], values[order[1]], ...
template <typename T>
std::vector<T> chosen(const T* values, const std::vector<int64_t>& order) {
  std::vector<T> result;
  for (int64_t position : order) result.push_back(values[position]);
  return result;
}

// How rows are visited.
struct Visits {
  bool by_rows = false;  // a row from its first column to its last, by one thread
  bool keeps = true;     // new rows may be cached
};

class SharedRows {
 public:
  SharedRows(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes, int threads);
  SharedRows(const SharedRows&) = delete;

  const Program& program() const { return *program_; }
  const Side& side() const { return side_; }
  int threads() const { return threads_; }
  int64_t cache_bytes() const { return cache_bytes_; }
  int64_t cached() const { return cache_.size(); }

  // The rows of some examples against all: calls visit(r, view, stack) for every position r of
  // `ids` and every column tile; calls for different column tiles may run at the same time, or,
  // by_rows, those for different rows.
  template <typename Visit>
  void each_row(const int64_t* ids, int64_t count, Visit&& visit, Visits visits = {});

  // The rows of some examples against each other: calls visit(r, view, stack, part) for every
  // position r of `ids`, the views covering the positions from r on in tiles. Calls for different
  // parts may run at the same time; those of one part come in an order that does not depend on the
  // number of threads (parts = 0: as many parts as there can be). Cached rows are used, where that
  // is worth it, up to the first that is not there.
  template <typename Visit>
  void each_upper_row(const int64_t* ids, int64_t count, Visit&& visit, int64_t parts = 0);

  // Positions of `ids` in the order in which `each_upper_row` is fastest: those of cached rows
  // first where they are used.
  std::vector<int64_t> cached_first(const int64_t* ids, int64_t count) const;

  // out (count x count), symmetric: fill(view, stack, values) sets the values of a view.
  template <typename Fill>
  void block(const int64_t* ids, int64_t count, double* out, Fill&& fill);

  // The same for some of the examples. The two share the memory of the cache, half each; rows that
  // were cached stay cached as far as they fit.
  std::unique_ptr<SharedRows> subset(const int64_t* ids, int64_t count);

 private:
  // The time that the values of a pair take, in values that are read from a long row meanwhile.
  double reads() const;
  // Whether rows of so many examples against each other are read rather than computed.
  bool gathers(int64_t count) const;
  // Whether so many new rows are worth their room: memory that is new costs more than values that
  // are cheap, and a pass over many examples is a rare one.
  bool keeps_rows(int64_t count) const;
  template <typename Visit>
  void each_known_row(const std::vector<int64_t>& positions, const int64_t* ids,
                      const std::vector<const double*>& rows, Visit& visit, bool by_rows);
  template <typename Visit>
  void each_new_row(const std::vector<int64_t>& positions, const int64_t* ids, Visit& visit,
                    Visits visits);
  template <typename Visit>
  void each_upper_known_row(const std::vector<const double*>& rows, const int64_t* ids,
                            const Side& work, Visit& visit, int64_t parts) const;
  template <typename Visit>
  void each_upper_new_row(int64_t first, const int64_t* ids, const Side& work, Visit& visit,
                          int64_t parts) const;

  std::shared_ptr<const Program> program_;
  Side side_;
  int64_t cache_bytes_;
  int threads_;
  RowCache cache_;
};

template <typename Visit>
void SharedRows::each_row(const int64_t* ids, int64_t count, Visit&& visit, Visits visits) {
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
  each_known_row(known, ids, rows, visit, visits.by_rows);
  each_new_row(unknown, ids, visit, visits);
}

template <typename Visit>
void SharedRows::each_known_row(const std::vector<int64_t>& positions, const int64_t* ids,
                                const std::vector<const double*>& rows, Visit& visit,
                                bool by_rows) {
  if (positions.empty()) return;
  // Long stretches of a row are read faster than short ones.
  const int64_t width = std::clamp(side_.n / threads_, kTileColumns, 4 * kTileColumns);
  const int64_t tiles = (side_.n + width - 1) / width, planes = program_->n_planes();
  const int64_t known = int64_t(positions.size());
  // Rows [k0, k1) of those and column tiles [t0, t1).
  const auto visit_rows = [&](int64_t k0, int64_t k1, int64_t t0, int64_t t1) {
    std::vector<double> stack(program_->stack_size() * width);
    Planes values(planes);
    for (int64_t k = k0; k < k1; ++k) {
      for (int64_t t = t0; t < t1; ++t) {
        const int64_t j0 = t * width, n = std::min(side_.n - j0, width);
        for (int64_t p = 0; p < planes; ++p) values.set(p, rows[k] + p * side_.n + j0);
        visit(positions[k], values.view(side_, side_, ids[positions[k]], j0, n), stack.data());
      }
      if (k % kTileRows == 0) check_interrupt();
    }
  };
  if (by_rows)
    run_team(threads_, known, [&](int64_t k, int) { visit_rows(k, k + 1, 0, tiles); });
  else
    run_team(threads_, tiles, [&](int64_t t, int) { visit_rows(0, known, t, t + 1); });
}

template <typename Visit>
void SharedRows::each_new_row(const std::vector<int64_t>& positions, const int64_t* ids,
                              Visit& visit, Visits visits) {
  std::vector<int64_t> examples;
  std::vector<double*> kept;
  const bool keeps = visits.keeps && keeps_rows(int64_t(positions.size()));
  try {
    for (int64_t position : positions) {
      examples.push_back(ids[position]);
      kept.push_back(keeps ? cache_.insert(ids[position]) : nullptr);
    }
    sweep(
        *program_, side_, examples.data(), int64_t(examples.size()), side_, threads_,
        [&](int64_t r, const RowView& view, double* stack, int64_t) {
          if (kept[r])
            for (int64_t p = 0; p < program_->n_planes(); ++p)
              std::copy_n(view.planes[p], view.n, kept[r] + p * side_.n + view.j0);
          visit(positions[r], view, stack);
        },
        Pairs{.by_rows = visits.by_rows});
  } catch (...) {  // rows that were not filled must not be found
    for (int64_t example : examples) cache_.drop(example);
    throw;
  }
}

template <typename Visit>
void SharedRows::each_upper_row(const int64_t* ids, int64_t count, Visit&& visit, int64_t parts) {
  std::vector<const double*> rows;
  for (int64_t r = 0; r < count && gathers(count); ++r) {
    const double* row = cache_.find(ids[r]);
    if (!row) break;
    rows.push_back(row);
  }
  const Side work = Side{side_.n, {}, side_.vectors}.subset(ids, count);
  each_upper_known_row(rows, ids, work, visit, parts);
  each_upper_new_row(int64_t(rows.size()), ids, work, visit, parts);
}

template <typename Visit>
void SharedRows::each_upper_known_row(const std::vector<const double*>& rows, const int64_t* ids,
                                      const Side& work, Visit& visit, int64_t parts) const {
  const int64_t planes = program_->n_planes(), known = int64_t(rows.size());
  std::vector<std::vector<double>> scratch(threads_);
  const auto visit_row = [&](int64_t r, int64_t part, int worker) {
    scratch[worker].resize((planes + program_->stack_size()) * kTileColumns);
    double *tile = scratch[worker].data(), *stack = tile + planes * kTileColumns;
    Planes values(planes);
    for (int64_t p = 0; p < planes; ++p) values.set(p, tile + p * kTileColumns);
    for (int64_t j0 = r, n; j0 < work.n; j0 += n) {
      n = std::min(work.n - j0, kTileColumns);
      for (int64_t p = 0; p < planes; ++p)
        for (int64_t j = 0; j < n; ++j)
          tile[p * kTileColumns + j] = rows[r][p * side_.n + ids[j0 + j]];
      visit(r, values.view(work, work, r, j0, n), stack, part);
    }
  };
  const int64_t step = parts ? parts : known;
  run_team(threads_, std::min(step, known), [&](int64_t part, int worker) {
    for (int64_t r = part; r < known; r += step) visit_row(r, part, worker);
  });
}

template <typename Visit>
void SharedRows::each_upper_new_row(int64_t first, const int64_t* ids, const Side& work,
                                    Visit& visit, int64_t parts) const {
  if (first == work.n) return;
  const Side rest = side_.subset(ids + first, work.n - first);
  std::vector<int64_t> all(rest.n);
  std::iota(all.begin(), all.end(), 0);
  sweep(
      *program_, rest, all.data(), rest.n, rest, threads_,
      [&](int64_t r, const RowView& view, double* stack, int64_t part) {
        visit(first + r, RowView{work, work, first + r, first + view.j0, view.n, view.planes},
              stack, part);
      },
      Pairs{.upper = true, .parts = parts});
}

template <typename Fill>
void SharedRows::block(const int64_t* ids, int64_t count, double* out, Fill&& fill) {
  const std::vector<int64_t> order = cached_first(ids, count);
  each_upper_row(chosen(ids, order).data(), count,
                 [&](int64_t r, const RowView& view, double* stack, int64_t) {
                   fill(view, stack, out + r * count + view.j0);
                 });
  mirror_upper(out, count);
  if (!std::is_sorted(order.begin(), order.end())) reorder(out, order.data(), count);
}

}  // namespace kw

// Rows of shared quantities, computed in tiles or read from a cache.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "engine/cache.h"
#include "engine/evaluate.h"
#include "engine/sweep.h"

namespace kw {

// How rows are visited.
struct Visits {
  bool by_rows = false;  // a row from its first column to its last, by one thread
  bool keeps = true;     // new rows may be cached
};

// Rows that are cached, as a source of `sweep`: read in place, or, if `ids` are given, the values
// of these examples are gathered from each row. A row has n values of each plane.
class CachedRows {
 public:
  CachedRows(std::vector<const double*> rows, int64_t n, int64_t planes, int64_t columns,
             IdSpan ids = {})
      : rows_(std::move(rows)), n_(n), planes_(planes), columns_(columns), ids_(ids) {}

  int64_t pack_rows() const { return int64_t(rows_.size()); }
  int64_t tile_rows() const { return 1; }  // rows lie in memory of their own
  int64_t tile_columns() const { return columns_; }
  int64_t tile_size() const { return ids_.empty() ? 0 : planes_ * columns_; }
  void pack(IdSpan) {}
  TileValues tile(int64_t r, int64_t, int64_t j0, int64_t j1, double* scratch) const {
    if (ids_.empty()) return {rows_[r] + j0, 0, n_};
    for (int64_t p = 0; p < planes_; ++p)
      for (int64_t j = j0; j < j1; ++j) scratch[p * columns_ + j - j0] = rows_[r][p * n_ + ids_[j]];
    return {scratch, 0, columns_};
  }

 private:
  const std::vector<const double*> rows_;
  const int64_t n_, planes_, columns_;
  const IdSpan ids_;
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

  // The rows of some examples against all examples, cached rows first (see `sweep`).
  template <RowVisitor Visit>
  void each_row(IdSpan ids, Visit&& visit, Visits visits = {});

  // The rows of some examples against each other: visit(r, view, ...) is called for every position
  // r of `ids`, the views covering the positions from r on in tiles. Cached rows are used, if
  // reading is cheaper than computing, up to the first that is missing.
  template <RowVisitor Visit>
  void each_upper_row(IdSpan ids, Visit&& visit, int64_t parts = 0);

  // Positions of `ids` in the order in which `each_upper_row` is fastest: those of cached rows
  // first if they are used.
  std::vector<int64_t> cached_first(IdSpan ids) const;

  // out (count x count), symmetric: fill(view, stack, values) sets the values of a view.
  template <std::invocable<const RowView&, double*, double*> Fill>
  void block(IdSpan ids, double* out, Fill&& fill);

  // The same for some of the examples. The two share the memory of the cache, half each; rows that
  // were cached stay cached as far as they fit.
  std::unique_ptr<SharedRows> subset(IdSpan ids);

 private:
  // Cost of the values of a pair, in units of reading one value from a long row.
  double reads() const;
  // True if rows of so many examples against each other are read rather than computed.
  bool gathers(int64_t count) const;
  // True if so many new rows are cached: writing to new memory costs more than cheap values, and
  // passes over many examples are rare.
  bool keeps_rows(int64_t count) const;

  std::shared_ptr<const Program> program_;
  Side side_;
  int64_t cache_bytes_;
  int threads_;
  RowCache cache_;
};

template <RowVisitor Visit>
void SharedRows::each_row(IdSpan ids, Visit&& visit, Visits visits) {
  const int64_t planes = program_->n_planes();
  std::vector<int64_t> known, missing;  // positions of ids
  std::vector<const double*> rows;
  cache_.start_pass();
  for (int64_t r = 0; r < int64_t(ids.size()); ++r) {
    const double* row = cache_.find(ids[r]);
    if (row) {
      cache_.keep(ids[r]);
      rows.push_back(row);
    }
    (row ? known : missing).push_back(r);
  }
  // Long stretches of a row are read faster than short ones.
  const int64_t columns = std::clamp(side_.n / threads_, kTileColumns, 4 * kTileColumns);
  const std::vector<int64_t> cached = gather(ids.data(), known);
  sweep(CachedRows(std::move(rows), side_.n, planes, columns),
        {*program_, side_, cached, side_, threads_},
        [&](int64_t k, const RowView& view, double* stack, int64_t part) {
          visit(known[k], view, stack, part);
        },
        {.by_rows = visits.by_rows});

  const std::vector<int64_t> computed = gather(ids.data(), missing);
  const bool keeps = visits.keeps && keeps_rows(int64_t(missing.size()));
  std::vector<double*> kept;
  try {
    for (int64_t example : computed) kept.push_back(keeps ? cache_.insert(example) : nullptr);
    sweep({*program_, side_, computed, side_, threads_},
          [&](int64_t k, const RowView& view, double* stack, int64_t part) {
            if (kept[k])
              for (int64_t p = 0; p < planes; ++p)
                std::copy_n(view.planes[p], view.n, kept[k] + p * side_.n + view.j0);
            visit(missing[k], view, stack, part);
          },
          {.by_rows = visits.by_rows});
  } catch (...) {  // rows that were not filled must not be found
    for (int64_t example : computed) cache_.drop(example);
    throw;
  }
}

template <RowVisitor Visit>
void SharedRows::each_upper_row(IdSpan ids, Visit&& visit, int64_t parts) {
  std::vector<const double*> rows;
  for (size_t r = 0; r < ids.size() && gathers(int64_t(ids.size())); ++r) {
    const double* row = cache_.find(ids[r]);
    if (!row) break;
    rows.push_back(row);
  }
  const size_t known = rows.size();
  const Side work = (known < ids.size() ? side_ : Side{side_.n, {}, side_.vectors}).subset(ids);
  const std::vector<int64_t> positions = all_ids(work.n);
  const IdSpan all = positions;
  sweep(CachedRows(std::move(rows), side_.n, program_->n_planes(), kTileColumns, ids),
        {*program_, work, all.first(known), work, threads_}, visit,
        {.upper = true, .by_rows = true, .parts = parts});
  sweep({*program_, work, all.subspan(known), work, threads_},
        [&](int64_t r, const RowView& view, double* stack, int64_t part) {
          visit(int64_t(known) + r, view, stack, part);
        },
        {.upper = true, .parts = parts});
}

template <std::invocable<const RowView&, double*, double*> Fill>
void SharedRows::block(IdSpan ids, double* out, Fill&& fill) {
  const int64_t count = int64_t(ids.size());
  const std::vector<int64_t> order = cached_first(ids);
  each_upper_row(gather(ids.data(), order),
                 [&](int64_t r, const RowView& view, double* stack, int64_t) {
                   fill(view, stack, out + r * count + view.j0);
                 });
  mirror_upper(out, count);
  if (!std::is_sorted(order.begin(), order.end())) reorder(out, order);
}

}  // namespace kw

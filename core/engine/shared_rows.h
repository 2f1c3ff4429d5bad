// Rows of shared quantities for the engines: computed in tiles (sweep.h) or read from a cache. Owns
// the examples and the cache; the program is shared with other engines.
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
  bool by_rows = false;  // one thread visits a row, from its first column to its last
  bool keeps = true;     // new rows may be cached
};

// Cached rows as a source of `sweep`. Rows are read in place; or, if `ids` are given, the values of
// these examples are gathered from each row. A row has n values for each plane.
class CachedRows {
 public:
  CachedRows(std::vector<const double*> rows, int64_t n, int64_t planes, int64_t columns,
             IdSpan ids = {})
      : rows_(std::move(rows)), n_(n), planes_(planes), columns_(columns), ids_(ids) {}

  int64_t pack_rows() const { return int64_t(rows_.size()); }
  int64_t tile_rows() const { return 1; }  // rows are not contiguous in memory
  int64_t tile_columns() const { return columns_; }
  int64_t tile_size(int64_t) const { return ids_.empty() ? 0 : planes_ * columns_; }
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

  // Visits the rows of the examples `ids` against all examples, cached rows first (see `sweep`).
  template <RowVisitor Visit>
  void each_row(IdSpan ids, Visit&& visit, Visits visits = {});

  // Visits the upper triangle of the kernel matrix of `ids`: visit(r, view, ...) is called for
  // every position r of `ids`, with views that cover the positions from r on. If reading is cheaper
  // than computing, cached rows are used up to the first one that is missing.
  template <RowVisitor Visit>
  void each_upper_row(IdSpan ids, Visit&& visit, int64_t parts = 0);

  // The positions of `ids` in the order in which `each_upper_row` is fastest: those with cached
  // rows first, if cached rows are used.
  std::vector<int64_t> cached_first(IdSpan ids) const;

  // out (count x count), symmetric. fill(view, stack, values) computes the values of a view.
  template <std::invocable<const RowView&, double*, double*> Fill>
  void block(IdSpan ids, double* out, Fill&& fill);

  // Returns the same for some of the examples. Each of the two then has half of the memory of the
  // cache; cached rows are copied while they fit.
  std::unique_ptr<SharedRows> subset(IdSpan ids);

 private:
  // Cost of the values of a pair, in units of reading one value from a long row.
  double reads() const;
  // True if the rows of `count` examples against each other are gathered from the cache, not
  // computed.
  bool gathers(int64_t count) const;
  // True if `count` new rows are cached. If values are cheap and the pass is over many examples,
  // writing to new memory would cost more than it saves.
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
  std::vector<int64_t> known, missing;  // positions in `ids`
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
  // Long ranges of a row are read faster than short ones.
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
  } catch (...) {  // rows that were not filled must not count as cached
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

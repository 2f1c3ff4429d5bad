// The loop that every evaluation shares: some rows of one side against all examples of the other,
// in tiles that stay in cache, with the column tiles spread over the threads.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/program.h"
#include "system/team.h"

namespace kw {

constexpr int64_t kTileColumns = 256;
constexpr int64_t kTileRows = 64;
constexpr int64_t kPackBytes = int64_t(64) << 20;
constexpr int64_t kTileValues = int64_t{1} << 20;  // of a tile with many planes, about

// Values of all planes for some rows.
class PackedRows {
 public:
  PackedRows(const Program& program, const Side& a, const int64_t* rows, int64_t count,
             const Side& b)
      : program_(program), b_(b) {
    for (size_t s = 0; s < program.sources().size(); ++s)
      packs_.push_back(program.sources()[s]->pack(*a.tables[s], rows, count, *b.tables[s]));
  }

  // out: planes x (r1 - r0) x (j1 - j0)
  void fill(int64_t r0, int64_t r1, int64_t j0, int64_t j1, double* out) const {
    const int64_t n = j1 - j0, plane = (r1 - r0) * n;
    for (size_t s = 0; s < packs_.size(); ++s) {
      const Quantity& quantity = *program_.sources()[s];
      quantity.tile(*packs_[s], r0, r1, *b_.tables[s], j0, j1, {out, n, plane});
      out += quantity.planes() * plane;
    }
  }

  // How many rows may be packed at a time.
  static int64_t limit(const Program& program, const Side& a) {
    int64_t bytes = 1;
    for (size_t s = 0; s < program.sources().size(); ++s)
      bytes += program.sources()[s]->row_bytes(*a.tables[s]);
    return std::max(kTileRows, kPackBytes / bytes / kTileRows * kTileRows);
  }

 private:
  const Program& program_;
  const Side& b_;
  std::vector<std::unique_ptr<Rows>> packs_;
};

// Pointers to the values of each plane.
class Planes {
 public:
  explicit Planes(int64_t count) : pointers_(count) {}

  void set(int64_t plane, const double* values) { pointers_[plane] = values; }

  RowView view(const Side& a, const Side& b, int64_t row, int64_t j0, int64_t n,
               bool exact = false) const {
    return {a, b, row, j0, n, pointers_.data(), exact};
  }

 private:
  std::vector<const double*> pointers_;
};

// Columns of a tile: fewer where every pair has many values, so that memory does not grow with
// them.
inline int64_t tile_columns(int64_t planes) {
  const int64_t fitting = kTileValues / (kTileRows * std::max<int64_t>(planes, 1));
  return std::clamp<int64_t>(fitting / 16 * 16, 16, kTileColumns);
}

constexpr int64_t kStripRows = 32;  // of a strip that one thread visits: what a pack allows

// Which pairs are visited, and in which order.
struct Pairs {
  bool upper = false;  // only pairs on and above the diagonal, of rows that are the first examples
  bool exact = false;  // values below 1e-19 are computed too
  // Column tiles are dealt out to so many parts, each visited in its own fixed order, whatever the
  // number of threads; 0: a part for every tile.
  int64_t parts = 0;
  // Each row is visited from its first column to its last; a part is a strip of rows.
  bool by_rows = false;
};

// Calls visit(r, view, stack, part) for every position r of `rows` and every column tile; calls
// for different parts may run at the same time.
template <typename Visit>
void sweep(const Program& program, const Side& a, const int64_t* rows, int64_t count, const Side& b,
           int threads, Visit&& visit, Pairs pairs = {}) {
  const int64_t planes = program.n_planes(), limit = PackedRows::limit(program, a);
  const int64_t columns = tile_columns(planes), tiles = (b.n + columns - 1) / columns;
  std::vector<std::vector<double>> scratch(threads), stacks(threads);
  for (int64_t p0 = 0; p0 < count; p0 += limit) {
    const int64_t p1 = std::min(count, p0 + limit);
    const PackedRows packed(program, a, rows + p0, p1 - p0, b);
    // Rows [from, to) of the pack and column tile t.
    const auto visit_tile = [&](int64_t t, int64_t from, int64_t to, int64_t part, int worker) {
      std::vector<double>&tile = scratch[worker], &stack = stacks[worker];
      tile.resize(planes * kTileRows * columns);
      stack.resize(program.stack_size() * columns);
      Planes values(planes);
      const int64_t j0 = t * columns, n = std::min(b.n - j0, columns);
      const int64_t end = std::min(to, pairs.upper ? j0 + n - rows[p0] : to);
      for (int64_t r0 = from; r0 < end; r0 += kTileRows) {
        const int64_t r1 = std::min(end, r0 + kTileRows);
        const int64_t left = pairs.upper ? std::max(j0, rows[p0 + r0]) : j0, width = j0 + n - left;
        packed.fill(r0, r1, left, j0 + n, tile.data());
        for (int64_t r = r0; r < r1; ++r) {
          const int64_t row = rows[p0 + r], first = pairs.upper ? std::max(left, row) : left;
          for (int64_t p = 0; p < planes; ++p)
            values.set(p, tile.data() + (p * (r1 - r0) + r - r0) * width + first - left);
          visit(p0 + r, values.view(a, b, row, first, j0 + n - first, pairs.exact), stack.data(),
                part);
        }
        check_interrupt();
      }
    };
    if (pairs.by_rows) {
      const int64_t strips = (p1 - p0 + kStripRows - 1) / kStripRows;
      run_team(threads, strips, [&](int64_t strip, int worker) {
        const int64_t from = strip * kStripRows, to = std::min(p1 - p0, from + kStripRows);
        for (int64_t t = 0; t < tiles; ++t) visit_tile(t, from, to, strip, worker);
      });
    } else {
      const int64_t parts = pairs.parts ? std::min(pairs.parts, tiles) : tiles;
      run_team(threads, parts, [&](int64_t part, int worker) {
        for (int64_t t = part; t < tiles; t += parts) visit_tile(t, 0, p1 - p0, part, worker);
      });
    }
  }
}

}  // namespace kw

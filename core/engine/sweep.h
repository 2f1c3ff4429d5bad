// The loop shared by all evaluations of kernels: some rows of side a against all examples of side
// b. Pairs are visited in tiles that stay in the cache; column tiles or strips of rows are
// distributed over the threads.
#pragma once
#include <algorithm>
#include <concepts>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/program.h"
#include "system/recycled.h"
#include "system/team.h"

namespace kw {

constexpr int64_t kTileColumns = 256;              // columns of a tile: 2 kB for each row
constexpr int64_t kTileRows = 64;                  // rows of a tile that is computed at once
constexpr int64_t kPackBytes = int64_t(64) << 20;  // memory of the rows that are packed at a time
constexpr int64_t kTileValues = int64_t{1} << 20;  // maximum of a tile with many planes
constexpr int64_t kStripRows = 32;  // rows of a strip; Quantity::tile needs a multiple of 32

// Packed rows of all quantities of a program.
class PackedRows {
 public:
  PackedRows(const Program& program, const Side& a, IdSpan rows, const Side& b)
      : program_(program), b_(b) {
    for (size_t s = 0; s < program.sources().size(); ++s)
      packs_.push_back(program.sources()[s]->pack(*a.tables[s], rows, *b.tables[s]));
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

// Rows of `a` against all examples of `b`.
struct Sweep {
  const Program& program;
  const Side& a;
  IdSpan rows;
  const Side& b;
  int threads;
};

// Which pairs are visited, and in which order.
struct Pairs {
  // Only pairs on and above the diagonal; `rows` are then consecutive examples of a, and a is b.
  bool upper = false;
  bool exact = false;  // also compute values below 1e-19
  // True: one thread visits all columns of a row in order, and the work is divided into strips of
  // rows. False: it is divided into column tiles.
  bool by_rows = false;
  // Number of parts of the work. The tiles of a part are visited in a fixed order, so that sums by
  // part do not depend on the number of threads; 0: every strip or tile is a part.
  int64_t parts = 0;
};

// The values of a tile: those of row r and plane p begin at data + p * plane_stride + r *
// row_stride.
struct TileValues {
  const double* data;
  int64_t row_stride, plane_stride;
};

// A source of values. `pack` prepares at most `pack_rows` rows; r0 and r1 of `tile` count from the
// first of them. `tile` may write to scratch memory for `tile_size` values, which depends on the
// number of rows.
template <typename Source>
concept RowSource = requires(Source source, IdSpan rows, int64_t at, double* out) {
  { source.pack_rows() } -> std::same_as<int64_t>;
  { source.tile_rows() } -> std::same_as<int64_t>;
  { source.tile_columns() } -> std::same_as<int64_t>;
  { source.tile_size(at) } -> std::same_as<int64_t>;
  source.pack(rows);
  { source.tile(at, at, at, at, out) } -> std::same_as<TileValues>;
};

// A callback visit(r, view, stack, part) with the position r in `rows`, the values of some columns,
// scratch memory for Program::run, and the number of the part. Calls for different parts may run at
// the same time.
template <typename Visit>
concept RowVisitor = std::invocable<Visit&, int64_t, const RowView&, double*, int64_t>;

// The source that computes values from the examples.
class ComputedRows {
 public:
  ComputedRows(const Program& program, const Side& a, const Side& b)
      : program_(program), a_(a), b_(b) {}

  // The number of rows that fit into kPackBytes.
  int64_t pack_rows() const {
    int64_t bytes = 1;
    for (size_t s = 0; s < program_.sources().size(); ++s)
      bytes += program_.sources()[s]->row_bytes(*a_.tables[s]);
    return std::max(kTileRows, kPackBytes / bytes / kTileRows * kTileRows);
  }
  int64_t tile_rows() const { return kTileRows; }
  // Fewer columns if there are many planes, which bounds the memory of a tile.
  int64_t tile_columns() const {
    const int64_t fitting = kTileValues / (kTileRows * std::max<int64_t>(program_.n_planes(), 1));
    return std::clamp<int64_t>(fitting / 16 * 16, 16, kTileColumns);
  }
  int64_t tile_size(int64_t rows) const {
    return program_.n_planes() * rows * std::min(tile_columns(), b_.n);
  }
  void pack(IdSpan rows) { packed_.emplace(program_, a_, rows, b_); }
  TileValues tile(int64_t r0, int64_t r1, int64_t j0, int64_t j1, double* scratch) const {
    packed_->fill(r0, r1, j0, j1, scratch);
    return {scratch, j1 - j0, (r1 - r0) * (j1 - j0)};
  }

 private:
  const Program& program_;
  const Side &a_, &b_;
  std::optional<PackedRows> packed_;
};

// Calls visit for every row and every column tile.
template <RowSource Source, RowVisitor Visit>
void sweep(Source&& source, const Sweep& task, Visit&& visit, Pairs pairs = {}) {
  if (task.rows.empty()) return;
  const Program& program = task.program;
  const Side &a = task.a, &b = task.b;
  const int threads = task.threads;
  const int64_t planes = program.n_planes(), count = int64_t(task.rows.size());
  const int64_t columns = source.tile_columns(), height = source.tile_rows();
  const int64_t tiles = (b.n + columns - 1) / columns, limit = source.pack_rows();
  std::vector<Buffer<double>> scratch(threads), stacks(threads);
  for (int64_t p0 = 0; p0 < count; p0 += limit) {
    const IdSpan packed = task.rows.subspan(p0, std::min(limit, count - p0));
    source.pack(packed);
    // Visits rows [from, to) of the packed rows in column tile t.
    const auto visit_tile = [&](int64_t t, int64_t from, int64_t to, int64_t part, int worker) {
      Buffer<double>&tile = scratch[worker], &stack = stacks[worker];
      tile.resize(source.tile_size(std::min(height, count)));
      stack.resize(program.stack_size() * columns);
      Planes values(planes);
      const int64_t j0 = t * columns, j1 = std::min(b.n, j0 + columns);
      const int64_t end = std::min(to, pairs.upper ? j1 - packed[0] : to);
      for (int64_t r0 = from; r0 < end; r0 += height) {
        const int64_t r1 = std::min(end, r0 + height);
        const int64_t left = pairs.upper ? std::max(j0, packed[r0]) : j0;
        const TileValues found = source.tile(r0, r1, left, j1, tile.data());
        for (int64_t r = r0; r < r1; ++r) {
          const int64_t first = pairs.upper ? std::max(left, packed[r]) : left;
          for (int64_t p = 0; p < planes; ++p)
            values.set(p, found.data + p * found.plane_stride + (r - r0) * found.row_stride +
                              (first - left));
          visit(p0 + r, values.view(a, b, packed[r], first, j1 - first, pairs.exact), stack.data(),
                part);
        }
        if (r0 % kTileRows == 0) check_interrupt();
      }
    };
    const int64_t n = int64_t(packed.size()), strips = (n + kStripRows - 1) / kStripRows;
    const int64_t pieces = pairs.by_rows ? strips : tiles;
    const int64_t parts = pairs.parts ? std::min(pairs.parts, pieces) : pieces;
    run_team(threads, parts, [&](int64_t part, int worker) {
      for (int64_t piece = part; piece < pieces; piece += parts) {
        const int64_t from = piece * kStripRows, to = std::min(n, from + kStripRows);
        if (pairs.by_rows)
          for (int64_t t = 0; t < tiles; ++t) visit_tile(t, from, to, part, worker);
        else
          visit_tile(piece, 0, n, part, worker);
      }
    });
  }
}

// The same, with values computed from the examples.
template <RowVisitor Visit>
void sweep(const Sweep& task, Visit&& visit, Pairs pairs = {}) {
  sweep(ComputedRows(task.program, task.a, task.b), task, visit, pairs);
}

}  // namespace kw

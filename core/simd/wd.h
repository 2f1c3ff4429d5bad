// The weighted degree kernel on bit planes: what the loop that is compiled once per SIMD level
// needs.
//
// Bit p of a match mask says that letter p of the row equals letter p of the column. The mask of
// matches of length k is that of length k - 1 ANDed with itself shifted by one letter, so all
// degrees fall out of one pass, which ends when no match is left. A shift of the row against the
// columns is the same pass over a shifted row.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kWdGroup = 8;           // columns that are stored side by side
constexpr int64_t kWdPlaceSums = 22 * 8;  // sums of weights in a word of positions, by three bits

enum class WdValue { kSum, kDegrees, kPositions, kBoth };

struct WdTile {
  int64_t words, planes, degree;
  int64_t passes;  // shifts of the row
  bool masked;     // columns carry a mask of known letters after their planes
  bool add;        // sums grow what `out` holds; values of several planes always do
  WdValue value;
  int64_t length;
  const double* weights;  // passes * degree: of a match of length k at that shift
  const double* places;   // passes * degree * length: the same by position; null: all the same
  // passes * degree * words * kWdPlaceSums: sums of these weights, of every set of three positions.
  const double* place_sums;
  const int64_t* shifts;  // passes: of the row
  const int64_t*
      plane_of;  // the plane of a position, -1: none; positions begin at -(largest shift)
  const uint64_t*
      starts;  // passes * words: where a match may start; null: wherever the row is known
  const uint64_t*
      rows;     // n_rows * passes * (planes + 1) * words: planes, then the mask of known letters
  bool paired;  // rows lie side by side in groups, as columns do, and row r is compared with column
                // r only
  const uint64_t* columns;    // n_groups * (planes + masked) * words * kWdGroup
  int64_t n_rows, n_columns;  // columns are padded to whole groups
  void* matches;  // words * kWdGroup words, aligned to 64 bytes: where a match mask has room
  double* out;
  int64_t row_stride, plane_stride;
};

struct WdLoops {
  // All rows of a tile against all its columns.
  void (*tile)(const WdTile& tile);
  // out[s]: the letter whose bits are bit `bit` of a word of every plane, for n sequences stored
  // side by side; the planes are `stride` words apart.
  void (*letters)(const uint64_t* words, int64_t planes, int64_t stride, int64_t bit, int64_t n,
                  uint8_t* out);
};

}  // namespace kw

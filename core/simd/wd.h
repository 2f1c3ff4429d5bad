// The weighted degree kernel on bit planes: its parameters, and the table of the loops that are
// compiled once per SIMD level.
//
// Bit p of a match mask is set if letter p of the row equals letter p of the column. The mask of
// matches of length k is that of length k - 1 ANDed with itself shifted by one letter. So one pass
// computes all degrees, and ends when no match is left. A shift of the row against the columns is
// the same pass over a shifted row.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kWdGroup = 8;           // columns stored side by side
constexpr int64_t kWdPlaceSums = 22 * 8;  // sums of weights of a word of positions, by three bits

enum class WdValue { kSum, kDegrees, kPositions, kBoth };

struct WdTile {
  int64_t words, planes, degree;
  int64_t passes;  // number of shifts of the row
  bool masked;     // columns have a mask of known letters after their planes
  bool add;        // add to `out`; several planes always add
  WdValue value;
  int64_t length;
  const double* weights;  // passes * degree: weight of a match of a length under a shift
  // passes * degree * length: the same by position; null if weights do not depend on the position.
  const double* places;
  // passes * degree * words * kWdPlaceSums: sums of these weights over every subset of three
  // positions.
  const double* place_sums;
  const int64_t* shifts;  // passes: shift of the row in each
  // Plane of each position; the first position is -(largest shift). -1: no plane.
  const int64_t* plane_of;
  // passes * words: mask of the positions at which a match may start; null: all known letters.
  const uint64_t* starts;
  // n_rows * passes * (planes + 1) * words: planes, then the mask of known letters.
  const uint64_t* rows;
  // Rows lie side by side in groups, as columns do, and row r is compared with column r only.
  bool paired;
  const uint64_t* columns;    // n_groups * (planes + masked) * words * kWdGroup
  int64_t n_rows, n_columns;  // columns are padded to whole groups
  void* matches;  // words * kWdGroup words, aligned to 64 bytes: memory for a match mask
  double* out;
  int64_t row_stride, plane_stride;
};

struct WdLoops {
  // Compares all rows of a tile with all its columns.
  void (*tile)(const WdTile& tile);
  // out[s]: the letter at bit `bit` of a word of every plane, for n sequences stored side by side;
  // the planes are `stride` words apart.
  void (*letters)(const uint64_t* words, int64_t planes, int64_t stride, int64_t bit, int64_t n,
                  uint8_t* out);
};

}  // namespace kw

// Passes over pairs in single precision (engine/single_passes.h): what the loops that are compiled
// once per SIMD level need.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kPanel = 64;      // examples that are stored side by side, feature by feature
constexpr int64_t kStrip = 32;      // rows whose sums are single numbers before they are added up
constexpr int64_t kValueTerms = 5;  // coefficients of a cell: values are quartic in it,
constexpr int64_t kMomentTerms = 4;  // sums of powers go up to the cube, in cells half as wide
constexpr int64_t kValueCells = 64;  // as many as two lookups in two registers can tell apart
constexpr int64_t kMomentCells = 2 * kValueCells;
constexpr int64_t kApart = 4;  // sums of powers that are kept apart, so that none waits for another

// Where a number s >= 0 lies: in the cell that the leading bits of s + shift tell, four (or eight)
// for every factor of two.
struct SingleGrid {
  float shift = 1.0f;  // a power of two
  float limit = 0.0f;  // what is larger counts as this
};

constexpr int kValueTail = 21, kMomentTail = 20;  // bits of a float that vary inside a cell
constexpr float kValueHalf = 0.125f, kMomentHalf = 0.0625f;  // places lie in [-half, half)

struct SingleLoops {
  // Squared distances of `count` rows (d values each, times -2, and their squared norms) and the
  // examples of a panel: out[r * kPanel + j].
  void (*distances)(const float* rows, const float* row_norms, int64_t count, const float* panel,
                    const float* norms, int64_t d, float* out);
  // out[j] += sum_r factors[r] f(s[r * kPanel + j]), for at most kStrip rows and a whole panel.
  // tables: kValueTerms coefficients of kValueCells cells each.
  void (*add)(const float* s, int64_t count, const SingleGrid& grid, const float* tables,
              const float* factors, double* out);
  // Numbers s[p * stride + j] of `panels` panels: the powers of their places in their cells, times
  // weights[p * kPanel + j], are added to total (kMomentCells x kMomentTerms). sums: zeros,
  // kApart times as many, that are zeros again at the end.
  void (*moments)(const float* s, int64_t stride, int64_t panels, const SingleGrid& grid,
                  const float* weights, float* sums, double* total);
};

}  // namespace kw

// Passes over pairs in single precision (engine/single_passes.h): what the loops that are compiled
// once per SIMD level need.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kPanel = 64;  // examples that are stored side by side, feature by feature
constexpr int64_t kStrip = 32;  // rows whose sums are single numbers before they are added up
constexpr int64_t kApart = 4;   // independent sums of powers, for instruction-level parallelism

// Values are polynomials in at most 64 cells, as many as two lookups in two registers distinguish:
// of degree 4 in four narrow cells for every factor of two, or of degree 6 in two wide ones. Sums
// of powers go up to the cube, in eight cells.
constexpr int64_t kValueCells = 64, kNarrowTerms = 5, kWideTerms = 7, kMomentTerms = 4;
// Coefficients are stored twice: term by term for registers, cell by cell for shorter ones.
constexpr int64_t kTermByTerm = kWideTerms * kValueCells, kCellStride = 8;
constexpr int64_t kCoefficients = kTermByTerm + kCellStride * kValueCells;
// Bits of a float that vary inside a cell, where places lie in [-half, half).
constexpr int kNarrowTail = 21, kWideTail = 22, kMomentTail = 20;
constexpr float kNarrowHalf = 0.125f, kWideHalf = 0.25f, kMomentHalf = 0.0625f;

// The cell of a number s >= 0 is given by the leading bits of s + shift.
struct SingleGrid {
  float shift = 1.0f;        // a power of two
  float limit = 0.0f;        // larger values are replaced by this
  bool wide = false;         // whether values have wide cells
  int64_t moment_cells = 0;  // up to the limit

  int64_t moments() const { return moment_cells * kMomentTerms; }
};

// Sums of powers [low, high) that may not be zero, apart from those of the first cell, in which an
// example itself is.
struct UsedMoments {
  int64_t low = INT64_MAX, high = kMomentTerms;
};

// Kernels whose sums are made at once.
constexpr int64_t kKernelsAtOnce = 8;

struct SingleLoops {
  // Squared distances of `count` rows (d values each, times -2, and their squared norms) and the
  // examples of a panel: out[r * kPanel + j].
  void (*distances)(const float* rows, const float* row_norms, int64_t count, const float* panel,
                    const float* norms, int64_t d, float* out);
  // The same for rows with few values that are not zero: values[e], of column columns[e], for e in
  // [starts[r], starts[r + 1]).
  void (*sparse_distances)(const float* values, const int32_t* columns, const int64_t* starts,
                           const float* row_norms, int64_t count, const float* panel,
                           const float* norms, float* out);
  // out[j] += sum_r factors[r] f(s[r * kPanel + j]), for at most kStrip rows and a whole panel.
  // tables: kCoefficients numbers.
  void (*add)(const float* s, int64_t count, const SingleGrid& grid, const float* tables,
              const float* factors, double* out);
  // out[r * stride + j] = f(s[r * kPanel + j]), or what is there plus that if it `adds`, for
  // `width` columns of a panel.
  void (*values)(const float* s, int64_t count, int64_t width, const SingleGrid& grid,
                 const float* tables, double* out, int64_t stride, bool adds);
  // Numbers s[p * stride + j] of `panels` panels: the powers of their places in their cells, times
  // weights[p * kPanel + j], are added to total (moment_cells x kMomentTerms). sums: zeros,
  // kApart times as many, that are zeros again at the end. `used` grows to what is added to.
  void (*moments)(const float* s, int64_t stride, int64_t panels, const SingleGrid& grid,
                  const float* weights, float* sums, double* total, UsedMoments* used);
  // out[r * kernels + k] += sum_j moments[r * size + j] weights[j * kernels + k] for j in
  // [low, high). kernels: a multiple of kKernelsAtOnce.
  void (*add_kernels)(const double* moments, int64_t rows, int64_t size, int64_t low, int64_t high,
                      const double* weights, int64_t kernels, double* out);
};

}  // namespace kw

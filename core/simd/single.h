// Passes over pairs in single precision (engine/single_passes.h): constants, and the table of the
// loops that are compiled once per SIMD level.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kPanel = 64;  // examples stored side by side, in feature order
// Rows whose sums are kept in single precision before they are added in double.
constexpr int64_t kStrip = 32;
constexpr int64_t kApart = 4;  // copies of the sums of powers, for instruction-level parallelism

// Kernel values are polynomials in at most 64 cells, as many as two table lookups in two registers
// can address: degree 4 in four narrow cells for every factor of two, or degree 6 in two wide ones.
// Moments go up to the third power, with eight cells for every factor of two.
constexpr int64_t kValueCells = 64, kNarrowTerms = 5, kWideTerms = 7, kMomentTerms = 4;
// Coefficients are stored twice: by power for AVX-512, by cell for shorter registers.
constexpr int64_t kTermByTerm = kWideTerms * kValueCells, kCellStride = 8;
constexpr int64_t kCoefficients = kTermByTerm + kCellStride * kValueCells;
// Number of trailing bits of a float that vary inside a cell; offsets are in [-half, half).
constexpr int kNarrowTail = 21, kWideTail = 22, kMomentTail = 20;
constexpr float kNarrowHalf = 0.125f, kWideHalf = 0.25f, kMomentHalf = 0.0625f;

// The leading bits of s + shift select the cell of a number s >= 0.
struct SingleGrid {
  float shift = 1.0f;        // a power of two
  float limit = 0.0f;        // larger values are replaced by this
  bool wide = false;         // whether kernel values use wide cells
  int64_t moment_cells = 0;  // number of moment cells up to the limit

  int64_t moments() const { return moment_cells * kMomentTerms; }
};

// The range [low, high) of moments that may not be zero. Those of the first cell, which contains
// the distance of an example from itself, are always used and not part of the range.
struct UsedMoments {
  int64_t low = INT64_MAX, high = kMomentTerms;
};

// Kernels whose sums are computed at once.
constexpr int64_t kKernelsAtOnce = 8;

struct SingleLoops {
  // Squared distances of `count` rows (d values each, multiplied by -2, and their squared norms)
  // from the examples of a panel: out[r * kPanel + j].
  void (*distances)(const float* rows, const float* row_norms, int64_t count, const float* panel,
                    const float* norms, int64_t d, float* out);
  // The same for rows with few nonzero values: values[e], in column columns[e], for e in
  // [starts[r], starts[r + 1]).
  void (*sparse_distances)(const float* values, const int32_t* columns, const int64_t* starts,
                           const float* row_norms, int64_t count, const float* panel,
                           const float* norms, float* out);
  // out[j] += sum_r factors[r] f(s[r * kPanel + j]), for at most kStrip rows and a whole panel.
  // tables: kCoefficients coefficients of f.
  void (*add)(const float* s, int64_t count, const SingleGrid& grid, const float* tables,
              const float* factors, double* out);
  // out[r * stride + j] = f(s[r * kPanel + j]), or += if `adds`, for `width` columns of a panel.
  void (*values)(const float* s, int64_t count, int64_t width, const SingleGrid& grid,
                 const float* tables, double* out, int64_t stride, bool adds);
  // For the numbers s[p * stride + j] of `panels` panels: adds weights[p * kPanel + j] times the
  // powers of their offsets to the moments of their cells, total (moment_cells x kMomentTerms).
  // sums: scratch memory of kApart times that size, zero before and after. `used` is extended by
  // the range of changed moments.
  void (*moments)(const float* s, int64_t stride, int64_t panels, const SingleGrid& grid,
                  const float* weights, float* sums, double* total, UsedMoments* used);
  // out[r * kernels + k] += sum_j moments[r * size + j] weights[j * kernels + k] for j in [low,
  // high). kernels: a multiple of kKernelsAtOnce.
  void (*add_kernels)(const double* moments, int64_t rows, int64_t size, int64_t low, int64_t high,
                      const double* weights, int64_t kernels, double* out);
};

}  // namespace kw

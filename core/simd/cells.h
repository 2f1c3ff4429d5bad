// Cells of a piecewise cubic polynomial (engine/profile.h): constants, and the table of the loops
// that are compiled once per SIMD level.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kTerms = 4;            // coefficients of a cell
constexpr int kTail = 44;                // bits of a double that vary inside a cell
constexpr double kHalfCell = 1.0 / 512;  // offsets in a cell are in [-kHalfCell, kHalfCell)

// The leading bits of |s| + shift select the cell of a number s. Cells [0, half) are for s >= 0,
// and cells [half, 2 half) for s < 0, if there are such numbers.
struct Grid {
  double shift = 1.0;  // a power of two
  double limit = 0.0;  // larger values are replaced by this
  int64_t base = 0;    // leading bits of the shift
  int64_t half = 1;
  bool both_signs = false;

  int64_t cells() const { return both_signs ? 2 * half : half; }
};

// Interpolation nodes, 32 for every factor of two; a value is interpolated by the cubic through
// four of them. Nodes of s >= 0 come first; `base` is the leading bits of the first one.
constexpr int64_t kNodes = 32;
constexpr int kNodeShift = 47;  // bits of a double below those that select a node

struct Nodes {
  int64_t base = 0;
  int64_t half = 2;
  bool both_signs = false;

  int64_t count() const { return both_signs ? 2 * half : half; }
};

struct CellLoops {
  // Evaluates a piecewise cubic function: out_j = factor * f(s_j), or out_j += factor * f(s_j).
  void (*set)(const double* s, const Grid& grid, const double* coefficients, double factor,
              double* out, int64_t n);
  void (*add)(const double* s, const Grid& grid, const double* coefficients, double factor,
              double* out, int64_t n);
  // The adjoint of the evaluation: adds factor * weights_j times the powers of the offset of s_j to
  // the moments of its cell.
  void (*moments)(const double* s, const Grid& grid, double factor, const double* weights,
                  double* moments, int64_t n);
  // The adjoint of cubic interpolation: distributes weights_j over the four nodes next to s_j.
  void (*spread)(const double* s, const Nodes& nodes, const double* weights, double* sums,
                 int64_t n);
};

}  // namespace kw

// Cells of a piecewise polynomial (profile.h): what the loops that are compiled once per SIMD level
// need.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kTerms = 4;            // coefficients of a cell
constexpr int kTail = 44;                // bits of a double that vary inside a cell
constexpr double kHalfCell = 1.0 / 512;  // places in a cell lie in [-kHalfCell, kHalfCell)

// The cell of a number s is given by the leading bits of |s| + shift. Cells are [0, half)
// for s >= 0, and [half, 2 half) for s < 0 where there may be such numbers.
struct Grid {
  double shift = 1.0;  // a power of two
  double limit = 0.0;  // larger values are replaced by this
  int64_t base = 0;    // leading bits of the shift
  int64_t half = 1;
  bool both_signs = false;

  int64_t cells() const { return both_signs ? 2 * half : half; }
};

// Nodes of a less accurate function, cubic between four of them: 32 for every factor of two. Those
// of s >= 0 come first; `base` is what the leading bits of the first one are.
constexpr int64_t kNodes = 32;
constexpr int kNodeShift = 47;

struct Nodes {
  int64_t base = 0;
  int64_t half = 2;
  bool both_signs = false;

  int64_t count() const { return both_signs ? 2 * half : half; }
};

struct CellLoops {
  // A piecewise cubic function: out_j = factor * f(s_j), or out_j grows by that.
  void (*set)(const double* s, const Grid& grid, const double* coefficients, double factor,
              double* out, int64_t n);
  void (*add)(const double* s, const Grid& grid, const double* coefficients, double factor,
              double* out, int64_t n);
  // Its adjoint: moments of the cell of s_j grow by factor * weights_j times the powers of the
  // place inside the cell.
  void (*moments)(const double* s, const Grid& grid, double factor, const double* weights,
                  double* moments, int64_t n);
  // The adjoint of cubic interpolation: weights_j is shared by four nodes near s_j.
  void (*spread)(const double* s, const Nodes& nodes, const double* weights, double* sums,
                 int64_t n);
};

}  // namespace kw

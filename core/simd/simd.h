// The table of vectorised loops. The same source (body.cpp and others) is compiled once per SIMD
// level; the level is chosen once, at the first call. Results of the levels differ only by fused
// multiply-adds, that is, in the last bit: sums have a fixed number of partial sums on all levels.
#pragma once
#include <cstdint>
#include <span>

namespace kw {

struct CellLoops;
struct SingleLoops;
struct WdLoops;
struct PairLoops;
struct ColumnLoops;
struct GameLoops;

struct PairChoice {
  double min_up;    // smallest one-sided derivative upwards
  double max_down;  // largest one-sided derivative downwards
  int64_t argmin_up;
  int64_t argmax_down;
};

struct Simd {
  const char* name;

  // Element-wise loops over n pairs of examples.
  void (*exp)(const double* s, double factor, double* out, int64_t n);  // exp(factor * s)
  void (*power)(const double* s, double gamma, double coef0, int degree, double* out, int64_t n);
  void (*mul)(const double* a, double* inout, int64_t n);
  void (*add)(const double* a, double* inout, int64_t n);
  void (*scale)(double factor, double* inout, int64_t n);
  void (*axpy)(double factor, const double* x, double* y, int64_t n);  // y += factor * x
  // y += factors[r] * rows[r] for four rows at once: reading four streams is faster than one.
  void (*axpy4)(const double* factors, const double* const* rows, double* y, int64_t n);
  void (*unit)(double ui, const double* u, double* inout, int64_t n);    // v_j *= ui * u_j
  void (*center)(double ci, const double* r, double* inout, int64_t n);  // v_j += ci - r_j
  // Centring of examples with absent views, which have NaN for r: ri and r_j are row means, `total`
  // is the mean of all pairs.
  void (*absent)(double ri, const double* r, double total, double* inout, int64_t n);
  // Squared distances from dot products.
  void (*sqdist)(double ni, const double* norms, double* inout, int64_t n);

  // Shared quantities of one example x (d values) and n examples stored in feature order.
  void (*l1)(const double* x, const double* columns, int64_t d, int64_t n, double* out);
  void (*chi2)(const double* x, const double* columns, int64_t d, int64_t n, double* out);
  void (*minimum)(const double* x, const double* columns, int64_t d, int64_t n, double* out);

  // Dot products of the sparse examples [j0, j1) with a panel of `width` (32 or 8) dense examples,
  // stored in feature order: out[r * stride + j - j0] for r < width.
  void (*sparse_panel)(const double* panel, int64_t width, const double* data,
                       const int32_t* indices, const int64_t* indptr, int64_t j0, int64_t j1,
                       double* out, int64_t stride);

  // Weighted sums of some rows of each of n tiles; a row has 16 values: out[16 t + l] = sum_r
  // weights[r] tiles[t * stride + 16 rows[r] + l].
  void (*combine)(const double* tiles, int64_t stride, const int64_t* rows, const double* weights,
                  int64_t count, double* out, int64_t n);

  // A table as groups of `letters` runs of `stride` numbers. Each group of numbers that differ in
  // one letter is multiplied by the reflection x - 2 v (v'x) that maps the constant vector to a
  // multiple of the first unit vector. Applying it twice restores the table.
  void (*reflect)(double* table, int64_t letters, int64_t stride, int64_t groups);

  double (*dot)(const double* a, const double* b, int64_t n);  // with 16 partial sums
  double (*least)(const double* values, int64_t n);            // minimum of n > 0 values

  // The two passes that choose a pair (i, j) of a working set of n examples.
  PairChoice (*choose)(const double* outputs, const double* slope_up, const double* slope_down,
                       int64_t n);
  int64_t (*partner)(const double* outputs, const double* slope_down, const double* curvature,
                     const double* diagonal, const double* row, double up_i, double curvature_i,
                     int64_t n);
  void (*move)(const double* row_i, const double* row_j, double step, double* outputs, int64_t n);

  const CellLoops* cells;     // piecewise polynomials, cells.h
  const SingleLoops* single;  // passes in single precision, single.h
  const WdLoops* wd;          // the weighted degree kernel, wd.h
  const PairLoops* pairs;     // mismatches of words of two sequences, pairs.h
  // Mismatches of words of many pairs of sequences, column_pairs.h.
  const ColumnLoops* column_pairs;
  const GameLoops* games;  // Shapley values of products, games.h
};

// The level in use. Throws std::invalid_argument if the level in KERNELWEAVE_SIMD is unknown, or
// this CPU does not support it.
const Simd& simd();
void use_simd(const char* name);
// The levels that this CPU supports, best last.
std::span<const Simd* const> simd_levels();

}  // namespace kw

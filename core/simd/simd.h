// The table of vectorised loops. One body (body.cpp) is compiled once per SIMD level; the level is
// chosen once, outside every loop. Levels differ by fused multiply-adds only, that is, in the last
// bit: element-wise loops have no order to change, and sums use a fixed number of partial sums.
#pragma once
#include <cstdint>

namespace kw {

struct CellLoops;
struct SingleLoops;
struct WdLoops;
struct WordLoops;
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

  // Element-wise loops over a tile of n pairs.
  void (*exp)(const double* s, double factor, double* out, int64_t n);  // exp(factor * s)
  void (*power)(const double* s, double gamma, double coef0, int degree, double* out, int64_t n);
  void (*mul)(const double* a, double* inout, int64_t n);
  void (*add)(const double* a, double* inout, int64_t n);
  void (*scale)(double factor, double* inout, int64_t n);
  void (*axpy)(double factor, const double* x, double* y, int64_t n);  // y += factor * x
  // y += factors[r] * rows[r], one r after the other: four streams are read faster than one.
  void (*axpy4)(const double* factors, const double* const* rows, double* y, int64_t n);
  void (*unit)(double ui, const double* u, double* inout, int64_t n);    // v_j *= ui * u_j
  void (*center)(double ci, const double* r, double* inout, int64_t n);  // v_j += ci - r_j
  // Values of absent examples, those with NaN for r: ri and r_j are means, total that of all pairs.
  void (*absent)(double ri, const double* r, double total, double* inout, int64_t n);
  void (*sqdist)(double ni, const double* norms, double* inout, int64_t n);  // from dot products

  // Shared quantities of one example x (d values) and n examples stored feature by feature.
  void (*l1)(const double* x, const double* columns, int64_t d, int64_t n, double* out);
  void (*chi2)(const double* x, const double* columns, int64_t d, int64_t n, double* out);
  void (*minimum)(const double* x, const double* columns, int64_t d, int64_t n, double* out);

  // Dot products of the sparse examples [j0, j1) with a panel of `width` (32 or 8) dense examples,
  // stored feature by feature: out[r * stride + j - j0] for r < width.
  void (*sparse_panel)(const double* panel, int64_t width, const double* data,
                       const int32_t* indices, const int64_t* indptr, int64_t j0, int64_t j1,
                       double* out, int64_t stride);

  // Weighted sums of some of the rows of 16 values that each of n tiles has:
  // out[16 t + l] = sum_r weights[r] tiles[t * stride + 16 rows[r] + l].
  void (*combine)(const double* tiles, int64_t stride, const int64_t* rows, const double* weights,
                  int64_t count, double* out, int64_t n);

  double (*dot)(const double* a, const double* b, int64_t n);  // 16 partial sums
  double (*least)(const double* values, int64_t n);            // the smallest of n > 0 values

  // The two passes of a pair step of the subproblem, over a working set of n examples.
  PairChoice (*choose)(const double* outputs, const double* slope_up, const double* slope_down,
                       int64_t n);
  int64_t (*partner)(const double* outputs, const double* slope_down, const double* curvature,
                     const double* diagonal, const double* row, double up_i, double curvature_i,
                     int64_t n);
  void (*move)(const double* row_i, const double* row_j, double step, double* outputs, int64_t n);

  const CellLoops* cells;           // piecewise polynomials, cells.h
  const SingleLoops* single;        // passes in single precision, single.h
  const WdLoops* wd;                // the weighted degree kernel, wd.h
  const WordLoops* words;           // tables of words, words.h
  const PairLoops* pairs;           // words against words, pairs.h
  const ColumnLoops* column_pairs;  // words of many pairs of sequences, column_pairs.h
  const GameLoops* games;           // Shapley values of products, games.h
};

// The level in use. Throws std::invalid_argument for a level that is unknown or that this CPU
// does not support.
const Simd& simd();
void use_simd(const char* name);
// Names of the levels of this CPU, best last, as a null-terminated list.
const char* const* simd_levels();

}  // namespace kw

// Passes in single precision. Compiled once per SIMD level; see level.h for the rules that follow.
#include "simd/single.h"

#include "simd/cell_math.h"

namespace kw {
namespace {

constexpr int64_t kFloats = 2 * kLanes;  // floats in a register
constexpr int64_t kRowsAtOnce = kLanes == 8 ? 4 : 2;
constexpr int64_t kVectors = 4;  // vectors of columns processed together
using Vec = Vectors<float, kFloats>::Numbers;
using Ints = Vectors<float, kFloats>::Words;
using Four = FourOf<float>;
using FloatPlaces = Places<float, kFloats>;

template <int64_t kRows>
inline void distances_of(const float* rows, const float* row_norms, const float* panel,
                         const float* norms, int64_t d, float* out) {
  for (int64_t c = 0; c < kPanel; c += kVectors * kFloats) {
    Vec sum[kRows][kVectors];
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t v = 0; v < kVectors; ++v)
        sum[r][v] = load<Vec>(norms + c + v * kFloats) + row_norms[r];
    for (int64_t f = 0; f < d; ++f)
      for (int64_t v = 0; v < kVectors; ++v) {
        const Vec x = load<Vec>(panel + f * kPanel + c + v * kFloats);
        for (int64_t r = 0; r < kRows; ++r) sum[r][v] += rows[r * d + f] * x;
      }
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t v = 0; v < kVectors; ++v) {
        const Vec s = sum[r][v] > 0.0f ? sum[r][v] : Vec{};
        memcpy(out + r * kPanel + c + v * kFloats, &s, sizeof s);
      }
  }
}

void distances_tile(const float* rows, const float* row_norms, int64_t count, const float* panel,
                    const float* norms, int64_t d, float* out) {
  int64_t r = 0;
  for (; r + kRowsAtOnce <= count; r += kRowsAtOnce)
    distances_of<kRowsAtOnce>(rows + r * d, row_norms + r, panel, norms, d, out + r * kPanel);
  for (; r < count; ++r)
    distances_of<1>(rows + r * d, row_norms + r, panel, norms, d, out + r * kPanel);
}

void sparse_distances_tile(const float* values, const int32_t* columns, const int64_t* starts,
                           const float* row_norms, int64_t count, const float* panel,
                           const float* norms, float* out) {
  for (int64_t r = 0; r < count; ++r)
    for (int64_t c = 0; c < kPanel; c += kVectors * kFloats) {
      Vec sum[kVectors];
      for (int64_t v = 0; v < kVectors; ++v)
        sum[v] = load<Vec>(norms + c + v * kFloats) + row_norms[r];
      for (int64_t e = starts[r]; e < starts[r + 1]; ++e) {
        const float* x = panel + columns[e] * kPanel + c;
        for (int64_t v = 0; v < kVectors; ++v) sum[v] += values[e] * load<Vec>(x + v * kFloats);
      }
      for (int64_t v = 0; v < kVectors; ++v) {
        const Vec s = sum[v] > 0.0f ? sum[v] : Vec{};
        memcpy(out + r * kPanel + c + v * kFloats, &s, sizeof s);
      }
    }
}

template <int kTail>
inline uint32_t first_cell(const SingleGrid& grid) {
  uint32_t bits;
  memcpy(&bits, &grid.shift, sizeof bits);
  return bits >> kTail;
}

// Shape of the polynomials: two cells of degree 6 for every factor of two, or four of degree 4.
struct Wide {
  static constexpr int64_t kTerms = kWideTerms;
  static constexpr int kTail = kWideTail;
  static constexpr float kHalf = kWideHalf;
};
struct Narrow {
  static constexpr int64_t kTerms = kNarrowTerms;
  static constexpr int kTail = kNarrowTail;
  static constexpr float kHalf = kNarrowHalf;
};

#if defined(__AVX512F__)
// One coefficient of all 64 cells, in four registers.
struct Coefficient {
  Vec part[4];
};

inline Vec lookup(const Coefficient& c, Ints cell) {
  const Vec low = __builtin_shuffle(c.part[0], c.part[1], cell);
  const Vec high = __builtin_shuffle(c.part[2], c.part[3], cell);
  return cell < 32 ? low : high;
}

template <typename Shape>
struct Tables {
  explicit Tables(const float* tables) {
    for (int64_t k = 0; k < Shape::kTerms; ++k)
      for (int64_t p = 0; p < 4; ++p)
        term[k].part[p] = load<Vec>(tables + k * kValueCells + p * kFloats);
  }

  Vec operator()(int64_t k, Ints cell) const { return lookup(term[k], cell); }

  Coefficient term[Shape::kTerms];
};

template <typename Shape>
inline Vec value_at(const FloatPlaces& at, const Tables<Shape>& tables) {
  Vec f = tables(Shape::kTerms - 1, at.cell);
  for (int64_t k = Shape::kTerms - 2; k >= 0; --k) f = tables(k, at.cell) + at.t * f;
  return f;
}
#else
// Coefficients in cell order: those of four cells are loaded and transposed.
template <typename Shape>
struct Tables {
  explicit Tables(const float* tables) : cells(tables + kTermByTerm) {}

  const float* cells;
};

template <typename Shape>
inline Vec value_at(const FloatPlaces& at, const Tables<Shape>& tables) {
  Vec values;
  for (int64_t part = 0; part < kFloats; part += 4) {
    const float* cell[4];
    for (int64_t l = 0; l < 4; ++l) cell[l] = tables.cells + at.cell[part + l] * kCellStride;
    const FourRows<float> low = transpose<float>(load<Four>(cell[0]), load<Four>(cell[1]),
                                                 load<Four>(cell[2]), load<Four>(cell[3]));
    const FourRows<float> high = transpose<float>(load<Four>(cell[0] + 4), load<Four>(cell[1] + 4),
                                                  load<Four>(cell[2] + 4), load<Four>(cell[3] + 4));
    const auto term = [&](int64_t k) { return k < 4 ? low.row[k] : high.row[k - 4]; };
    Four t;
    memcpy(&t, reinterpret_cast<const float*>(&at.t) + part, sizeof t);
    Four f = term(Shape::kTerms - 1);
    for (int64_t k = Shape::kTerms - 2; k >= 0; --k) f = term(k) + t * f;
    memcpy(reinterpret_cast<float*>(&values) + part, &f, sizeof f);
  }
  return values;
}
#endif

template <typename Shape>
void add_values(const float* s, int64_t count, const SingleGrid& given, const float* given_tables,
                const float* factors, double* out) {
  const SingleGrid grid = given;
  const Tables<Shape> tables(given_tables);
  const uint32_t base = first_cell<Shape::kTail>(grid);
  for (int64_t c = 0; c < kPanel; c += kVectors * kFloats) {
    Vec sum[kVectors] = {};
    for (int64_t r = 0; r < count; ++r)
      for (int64_t v = 0; v < kVectors; ++v) {
        const Vec values = load<Vec>(s + r * kPanel + c + v * kFloats);
        const FloatPlaces at =
            locate<Shape::kTail, float, kFloats>(values, grid, base, Shape::kHalf);
        sum[v] += factors[r] * value_at(at, tables);
      }
    for (int64_t v = 0; v < kVectors; ++v)
      for (int64_t l = 0; l < kFloats; ++l) out[c + v * kFloats + l] += double(sum[v][l]);
  }
}

void add_tile(const float* s, int64_t count, const SingleGrid& grid, const float* tables,
              const float* factors, double* out) {
  const auto add = grid.wide ? add_values<Wide> : add_values<Narrow>;
  add(s, count, grid, tables, factors, out);
}

template <typename Shape>
void set_values(const float* s, int64_t count, int64_t width, const SingleGrid& given,
                const float* given_tables, double* out, int64_t stride, bool adds) {
  typedef double Doubles __attribute__((vector_size(kFloats * sizeof(double))));
  const SingleGrid grid = given;
  const Tables<Shape> tables(given_tables);
  const uint32_t base = first_cell<Shape::kTail>(grid);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t c = 0; c < width; c += kFloats) {
      const Vec distances = load<Vec>(s + r * kPanel + c);
      const FloatPlaces at =
          locate<Shape::kTail, float, kFloats>(distances, grid, base, Shape::kHalf);
      Doubles values = __builtin_convertvector(value_at(at, tables), Doubles);
      double* row = out + r * stride + c;
      const int64_t n = width - c < kFloats ? width - c : kFloats;
      for (int64_t l = 0; l < n && adds; ++l) values[l] += row[l];
      if (n == kFloats)
        store(values, row);
      else
        memcpy(row, &values, size_t(n) * sizeof(double));
    }
}

void values_tile(const float* s, int64_t count, int64_t width, const SingleGrid& grid,
                 const float* tables, double* out, int64_t stride, bool adds) {
  const auto set = grid.wide ? set_values<Wide> : set_values<Narrow>;
  set(s, count, width, grid, tables, out, stride, adds);
}

// The range of sums that were changed, except those of the first cell. `low` is counted from the
// second cell on; for the first cell it wraps around, so that the minimum ignores it.
struct Range {
  Ints low, high;
};

inline void moments_of(const float* s, const SingleGrid& grid, uint32_t base, const float* weights,
                       float* sums, int64_t size, Range& used) {
  uint32_t first[kPanel];
  float power[kMomentTerms][kPanel];
  for (int64_t j = 0; j < kPanel; j += kFloats) {
    const FloatPlaces at =
        locate<kMomentTail, float, kFloats>(load<Vec>(s + j), grid, base, kMomentHalf);
    const Ints cell = at.cell * uint32_t(kMomentTerms);
    const Ints beyond = cell - uint32_t(kMomentTerms);
    used.low = beyond < used.low ? beyond : used.low;
    used.high = cell > used.high ? cell : used.high;
    memcpy(first + j, &cell, sizeof cell);
    Vec w = load<Vec>(weights + j);
    for (int64_t k = 0; k < kMomentTerms; ++k, w *= at.t) memcpy(power[k] + j, &w, sizeof w);
  }
  for (int64_t j = 0; j < kPanel; j += 4) {
    const FourRows<float> more =
        transpose<float>(load<Four>(power[0] + j), load<Four>(power[1] + j),
                         load<Four>(power[2] + j), load<Four>(power[3] + j));
    for (int64_t l = 0; l < kApart; ++l) {
      float* sum = sums + l * size + first[j + l];
      const Four v = load<Four>(sum) + more.row[l];
      memcpy(sum, &v, sizeof v);
    }
  }
}

// Adds sums [low, high) to total, and sets them to zero. There are kApart copies of each sum,
// `size` numbers apart.
inline void add_up(float* sums, int64_t size, int64_t low, int64_t high, double* total) {
  for (int64_t k = low; k < high; ++k) {
    total[k] += double(sums[k]) + double(sums[size + k]) +
                (double(sums[2 * size + k]) + double(sums[3 * size + k]));
    sums[k] = sums[size + k] = sums[2 * size + k] = sums[3 * size + k] = 0.0f;
  }
}

void moments_row(const float* s, int64_t stride, int64_t panels, const SingleGrid& given,
                 const float* weights, float* sums, double* total, UsedMoments* found) {
  const SingleGrid grid = given;
  const int64_t size = grid.moments();
  const uint32_t base = first_cell<kMomentTail>(grid);
  Range used = {~Ints{}, Ints{}};
  for (int64_t p = 0; p < panels; ++p)
    moments_of(s + p * stride, grid, base, weights + p * kPanel, sums, size, used);
  add_up(sums, size, 0, kMomentTerms, total);
  for (int64_t l = 0; l < kFloats; ++l) {
    if (used.high[l] == 0) continue;  // only the first cell was used
    const int64_t low = int64_t(used.low[l]) + kMomentTerms;
    const int64_t high = int64_t(used.high[l]) + kMomentTerms;
    found->low = low < found->low ? low : found->low;
    found->high = high > found->high ? high : found->high;
  }
  if (found->low < found->high) add_up(sums, size, found->low, found->high, total);
}

typedef double Kernels __attribute__((vector_size(kKernelsAtOnce * sizeof(double))));

template <int64_t kRows>
inline void add_kernels_of(const double* moments, int64_t size, int64_t low, int64_t high,
                           const double* weights, int64_t kernels, double* out) {
  for (int64_t k = 0; k < kernels; k += kKernelsAtOnce) {
    Kernels sum[kRows] = {};
    for (int64_t j = low; j < high; ++j) {
      const Kernels w = load<Kernels>(weights + j * kernels + k);
      for (int64_t r = 0; r < kRows; ++r) sum[r] += moments[r * size + j] * w;
    }
    for (int64_t r = 0; r < kRows; ++r) {
      double* sums = out + r * kernels + k;
      store(load<Kernels>(sums) + sum[r], sums);
    }
  }
}

void add_kernels(const double* moments, int64_t rows, int64_t size, int64_t low, int64_t high,
                 const double* weights, int64_t kernels, double* out) {
  constexpr int64_t kRows = 8;
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows)
    add_kernels_of<kRows>(moments + r * size, size, low, high, weights, kernels, out + r * kernels);
  for (; r < rows; ++r)
    add_kernels_of<1>(moments + r * size, size, low, high, weights, kernels, out + r * kernels);
}

}  // namespace

extern const SingleLoops KW_JOIN(single_, KW_LEVEL);
const SingleLoops KW_JOIN(single_, KW_LEVEL) = {distances_tile, sparse_distances_tile, add_tile,
                                                values_tile,    moments_row,           add_kernels};

}  // namespace kw

// The lookup of cells of piecewise polynomials, for floats and doubles. For files that are compiled
// once per SIMD level; see level.h.
#pragma once

#include "simd/level.h"

namespace kw {
namespace {

// Vectors of `lanes` numbers, and of `lanes` unsigned integers of the same size.
template <typename Scalar, int64_t lanes>
struct Vectors;

template <int64_t lanes>
struct Vectors<float, lanes> {
  typedef float Numbers __attribute__((vector_size(lanes * sizeof(float))));
  typedef uint32_t Words __attribute__((vector_size(lanes * sizeof(float))));
  typedef int32_t Lanes __attribute__((vector_size(lanes * sizeof(float))));
  static constexpr uint32_t kOne = 0x3f800000;  // bits of 1.0f
};

template <int64_t lanes>
struct Vectors<double, lanes> {
  typedef double Numbers __attribute__((vector_size(lanes * sizeof(double))));
  typedef uint64_t Words __attribute__((vector_size(lanes * sizeof(double))));
  typedef int64_t Lanes __attribute__((vector_size(lanes * sizeof(double))));
  static constexpr uint64_t kOne = 0x3ff0000000000000;  // bits of 1.0
};

template <typename Scalar>
using FourOf = typename Vectors<Scalar, 4>::Numbers;

template <typename Scalar>
struct FourRows {
  FourOf<Scalar> row[4];
};

// Transposes the rows a, b, c and d. A register of doubles has two halves, between which unpacking
// does not mix; a register of floats has one.
template <typename Scalar>
inline FourRows<Scalar> transpose(FourOf<Scalar> a, FourOf<Scalar> b, FourOf<Scalar> c,
                                  FourOf<Scalar> d) {
  using Lanes = typename Vectors<Scalar, 4>::Lanes;
  constexpr bool halves = sizeof(Scalar) == 8;
  const Lanes even = halves ? Lanes{0, 4, 2, 6} : Lanes{0, 4, 1, 5};
  const Lanes odd = halves ? Lanes{1, 5, 3, 7} : Lanes{2, 6, 3, 7};
  const Lanes low = {0, 1, 4, 5}, high = {2, 3, 6, 7};
  const FourOf<Scalar> ab0 = __builtin_shuffle(a, b, even), ab1 = __builtin_shuffle(a, b, odd);
  const FourOf<Scalar> cd0 = __builtin_shuffle(c, d, even), cd1 = __builtin_shuffle(c, d, odd);
  FourRows<Scalar> rows;
  rows.row[0] = __builtin_shuffle(ab0, cd0, low);
  rows.row[halves ? 2 : 1] = __builtin_shuffle(ab0, cd0, high);
  rows.row[halves ? 1 : 2] = __builtin_shuffle(ab1, cd1, low);
  rows.row[3] = __builtin_shuffle(ab1, cd1, high);
  return rows;
}

// The cells of numbers s >= 0, counted from the cell of the shift, and the offsets in them, in
// [-half, half). The leading bits of s + shift select the cell.
template <typename Scalar, int64_t lanes>
struct Places {
  typename Vectors<Scalar, lanes>::Words cell;
  typename Vectors<Scalar, lanes>::Numbers t;
};

// The Grid has a `shift`, and a `limit` by which larger numbers are replaced. kTail bits vary
// inside a cell.
template <int kTail, typename Scalar, int64_t lanes, typename Grid, typename Word>
inline Places<Scalar, lanes> locate(typename Vectors<Scalar, lanes>::Numbers s, const Grid& grid,
                                    Word base, Scalar half) {
  using Numbers = typename Vectors<Scalar, lanes>::Numbers;
  using Words = typename Vectors<Scalar, lanes>::Words;
  s = s < grid.limit ? s : grid.limit - Numbers{};
  const Words bits = (Words)(s + grid.shift);
  const Words tail = bits & ((Word(1) << kTail) - 1);
  return {(bits >> kTail) - base,
          (Numbers)(tail | Vectors<Scalar, lanes>::kOne) - (Scalar(1) + half)};
}

}  // namespace
}  // namespace kw

// Piecewise cubic functions of double values. Compiled once per SIMD level; see level.h for the
// rules that follow.
#include "simd/cells.h"

#include "simd/cell_math.h"

namespace kw {
namespace {

// Works on four cells at a time on every SIMD level, since a cell has four coefficients.
using Four = FourOf<double>;
using FourInts = Vectors<double, 4>::Words;

struct CellPlaces {
  FourInts first;  // index of the first coefficient of the cell
  Four t;          // offset in the cell
};

inline CellPlaces locate_both_signs(Four s, const Grid& grid) {
  const Four size = (Four)((FourInts)s & 0x7fffffffffffffff);
  auto at = locate<kTail, double, 4>(size, grid, uint64_t(grid.base), kHalfCell);
  if (grid.both_signs) at.cell += -((FourInts)s >> 63) & uint64_t(grid.half);
  return {at.cell * kTerms, at.t};
}

inline Four cubic(Four s, const Grid& grid, const double* coefficients) {
  const CellPlaces at = locate_both_signs(s, grid);
  const FourRows<double> c = transpose<double>(
      load<Four>(coefficients + at.first[0]), load<Four>(coefficients + at.first[1]),
      load<Four>(coefficients + at.first[2]), load<Four>(coefficients + at.first[3]));
  return c.row[0] + at.t * (c.row[1] + at.t * (c.row[2] + at.t * c.row[3]));
}

template <bool kAdd>
void values_tile(const double* s, const Grid& given, const double* coefficients, double factor,
                 double* out, int64_t n) {
  const Grid grid = given;  // a local copy, which `out` cannot alias
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const Four f = factor * cubic(load<Four>(s + j), grid, coefficients);
    const Four v = kAdd ? load<Four>(out + j) + f : f;
    memcpy(out + j, &v, sizeof v);
  }
  if (j == n) return;
  double rest[4] = {};
  for (int64_t l = 0; j + l < n; ++l) rest[l] = s[j + l];
  const Four f = factor * cubic(load<Four>(rest), grid, coefficients);
  for (int64_t l = 0; j + l < n; ++l) out[j + l] = kAdd ? out[j + l] + f[l] : f[l];
}

inline void grow(Four s, const Grid& grid, Four weight, double* moments) {
  const CellPlaces at = locate_both_signs(s, grid);
  const Four linear = weight * at.t, square = linear * at.t;
  const FourRows<double> more = transpose<double>(weight, linear, square, square * at.t);
  for (int64_t l = 0; l < 4; ++l) {
    double* moment = moments + at.first[l];
    const Four v = load<Four>(moment) + more.row[l];
    memcpy(moment, &v, sizeof v);
  }
}

void moments_tile(const double* s, const Grid& given, double factor, const double* weights,
                  double* moments, int64_t n) {
  const Grid grid = given;  // a local copy, which `moments` cannot alias
  int64_t j = 0;
  for (; j + 4 <= n; j += 4)
    grow(load<Four>(s + j), grid, factor * load<Four>(weights + j), moments);
  if (j == n) return;
  double last[4] = {}, weight[4] = {};
  for (int64_t l = 0; j + l < n; ++l) last[l] = s[j + l], weight[l] = weights[j + l];
  grow(load<Four>(last), grid, factor * load<Four>(weight), moments);
}

void spread_tile(const double* s, const Nodes& nodes, const double* weights, double* sums,
                 int64_t n) {
  constexpr int64_t low_bits = (int64_t(1) << kNodeShift) - 1;
  for (int64_t j = 0; j < n; ++j) {
    int64_t bits;
    memcpy(&bits, s + j, sizeof bits);
    const int64_t magnitude = bits & 0x7fffffffffffffff;
    int64_t leading = (magnitude >> kNodeShift) - nodes.base;
    leading = leading < nodes.half - 2 ? leading : nodes.half - 3;  // rounding may exceed the bound
    const int64_t sign = nodes.both_signs && bits < 0 ? nodes.half : 0;
    if (leading < 0) {  // before the first node every kernel is constant
      sums[sign] += weights[j];
      continue;
    }
    const int64_t inside = (magnitude & low_bits) << (52 - kNodeShift) | 0x3ff0000000000000;
    double t;
    memcpy(&t, &inside, sizeof t);
    // Four evenly spaced nodes between the same two powers of two.
    const int64_t place = leading % kNodes;
    const int64_t skipped = place < 1 ? 0 : place > kNodes - 3 ? kNodes - 3 : place - 1;
    const double x = t - 1.0 + double(place - skipped);
    double* four = sums + sign + leading - place + skipped;
    const double outer = weights[j] * (x - 1.0) * (x - 2.0) / 6.0;
    const double inner = weights[j] * x * (x - 3.0) / 2.0;
    four[0] -= outer * (x - 3.0);
    four[1] += inner * (x - 2.0);
    four[2] -= inner * (x - 1.0);
    four[3] += outer * x;
  }
}

}  // namespace

extern const CellLoops KW_JOIN(cells_, KW_LEVEL);
const CellLoops KW_JOIN(cells_, KW_LEVEL) = {values_tile<false>, values_tile<true>, moments_tile,
                                             spread_tile};

}  // namespace kw

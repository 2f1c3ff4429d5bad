// Element-wise loops and sums over double values. Compiled once per SIMD level; see level.h for the
// rules that follow.
#include "simd/level.h"
#include "simd/simd.h"

#define KW_NAME2(a) #a
#define KW_NAME(a) KW_NAME2(a)

namespace kw {
namespace {

typedef double Vec __attribute__((vector_size(kLanes * sizeof(double))));
typedef int64_t Mask __attribute__((vector_size(kLanes * sizeof(int64_t))));
constexpr double kInfinity = __builtin_inf();

inline Vec broadcast(double x) { return x - Vec{}; }

// exp(x) for x <= 0 to about one unit in the last place: x = k ln 2 + r, |r| <= ln 2 / 2, a
// near-minimax polynomial of degree 11 in r (relative error 3.4e-17), and k added to the exponent
// bits. Below -708 the result stays at exp(-708), which is zero in any sum. NaN stays NaN.
inline Vec exp_vec(Vec x) {
  const Vec shift = broadcast(0x1.8p52), least = broadcast(-708.0);
  x = least > x ? least : x;
  const Vec biased = x * 0x1.71547652b82fep0 + shift;
  const Vec k = biased - shift;
  const Vec r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
  const Vec r2 = r * r;
  const Vec r4 = r2 * r2;
  const Vec p0 = 0x1.5555555555555p-3 + r * 0x1.5555555554cb7p-5;
  const Vec p1 = 0x1.1111111110e6ap-7 + r * 0x1.6c16c1738ff55p-10;
  const Vec p2 = 0x1.a01a01a4b322fp-13 + r * 0x1.a019c9a5652d3p-16;
  const Vec p3 = 0x1.71de17e40edfep-19 + r * 0x1.2880411bad1aap-22;
  const Vec p = (p0 + r2 * p1) + r4 * ((p2 + r2 * p3) + r4 * 0x1.af236aac51d05p-26);
  const Vec e = 1.0 + (r + r2 * (0.5 + r * p));
  return (Vec)((Mask)e + ((Mask)biased << 52));
}

void exp_tile(const double* s, double factor, double* out, int64_t n) {
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(exp_vec(factor * load<Vec>(s + j)), out + j);
  if (j < n) {
    double rest[kLanes] = {};
    for (int64_t l = 0; j + l < n; ++l) rest[l] = s[j + l];
    store(exp_vec(factor * load<Vec>(rest)), rest);
    for (int64_t l = 0; j + l < n; ++l) out[j + l] = rest[l];
  }
}

// By repeated squaring: a degree of a billion takes sixty products.
template <typename Value>
inline Value whole_power(Value base, int degree) {
  Value result = base;
  for (int left = degree - 1; left; left >>= 1) {
    if (left & 1) result *= base;
    base *= base;
  }
  return result;
}

void power_tile(const double* __restrict s, double gamma, double coef0, int degree,
                double* __restrict out, int64_t n) {
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes)
    store(whole_power(gamma * load<Vec>(s + j) + coef0, degree), out + j);
  for (; j < n; ++j) out[j] = whole_power(gamma * s[j] + coef0, degree);
}

void mul_tile(const double* __restrict a, double* __restrict v, int64_t n) {
  for (int64_t j = 0; j < n; ++j) v[j] *= a[j];
}

void add_tile(const double* __restrict a, double* __restrict v, int64_t n) {
  for (int64_t j = 0; j < n; ++j) v[j] += a[j];
}

void scale_tile(double factor, double* __restrict v, int64_t n) {
  for (int64_t j = 0; j < n; ++j) v[j] *= factor;
}

void axpy_tile(double factor, const double* __restrict x, double* __restrict y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) y[j] += factor * x[j];
}

void axpy4_tile(const double* factors, const double* const* rows, double* __restrict y, int64_t n) {
  const double a = factors[0], b = factors[1], c = factors[2], d = factors[3];
  const double* __restrict p = rows[0], * __restrict q = rows[1], * __restrict r = rows[2], * __restrict s = rows[3];
  for (int64_t j = 0; j < n; ++j) y[j] = (((y[j] + a * p[j]) + b * q[j]) + c * r[j]) + d * s[j];
}

void combine_tiles(const double* __restrict tiles, int64_t stride, const int64_t* __restrict rows,
                   const double* __restrict weights, int64_t count, double* __restrict out,
                   int64_t n) {
  constexpr int64_t vectors = 16 / kLanes;
  for (int64_t t = 0; t < n; ++t) {
    // Two independent sums, for instruction-level parallelism.
    Vec even[vectors] = {}, odd[vectors] = {};
    const auto add_row = [&](Vec* sum, int64_t r) {
      const double* row = tiles + t * stride + 16 * rows[r];
      for (int64_t v = 0; v < vectors; ++v) sum[v] += weights[r] * load<Vec>(row + v * kLanes);
    };
    for (int64_t r = 0; r + 1 < count; r += 2) {
      add_row(even, r);
      add_row(odd, r + 1);
    }
    if (count % 2) add_row(even, count - 1);
    for (int64_t v = 0; v < vectors; ++v) store(even[v] + odd[v], out + 16 * t + v * kLanes);
  }
}

void unit_tile(double ui, const double* __restrict u, double* __restrict v, int64_t n) {
  for (int64_t j = 0; j < n; ++j) v[j] *= ui * u[j];
}

void center_tile(double ci, const double* __restrict r, double* __restrict v, int64_t n) {
  for (int64_t j = 0; j < n; ++j) v[j] += ci - r[j];
}

void absent_tile(double ri, const double* __restrict r, double total, double* __restrict v,
                 int64_t n) {
  if (ri != ri)
    for (int64_t j = 0; j < n; ++j) v[j] = r[j] != r[j] ? total : r[j];
  else
    for (int64_t j = 0; j < n; ++j) v[j] = r[j] != r[j] ? ri : v[j];
}

// Distances below the rounding error of the norms are 0, so that equal vectors have distance 0 in
// any order of summation. NaN, a difference of infinite norms, stays NaN.
void sqdist_tile(double ni, const double* __restrict norms, double* __restrict v, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double sum = ni + norms[j], s = sum - 2.0 * v[j];
    v[j] = 0x1p-48 * sum > s ? 0.0 : s;
  }
}

template <typename Term>
inline void sum_over_features(const double* x, const double* columns, int64_t d, int64_t n,
                              double* __restrict out, Term term) {
  for (int64_t j = 0; j < n; ++j) out[j] = 0.0;
  for (int64_t f = 0; f < d; ++f) {
    const double xf = x[f];
    const double* __restrict c = columns + f * n;
    for (int64_t j = 0; j < n; ++j) out[j] += term(xf, c[j]);
  }
}

void l1_tile(const double* x, const double* columns, int64_t d, int64_t n, double* out) {
  sum_over_features(x, columns, d, n, out,
                    [](double a, double b) { return __builtin_fabs(a - b); });
}

void chi2_tile(const double* x, const double* columns, int64_t d, int64_t n, double* out) {
  sum_over_features(x, columns, d, n, out, [](double a, double b) {
    const double sum = a + b;
    return (a - b) * (a - b) / (sum > 0.0 ? sum : 1.0);  // both are >= 0: 0 / 0 counts as 0
  });
}

void minimum_tile(const double* x, const double* columns, int64_t d, int64_t n, double* out) {
  sum_over_features(x, columns, d, n, out, [](double a, double b) { return a < b ? a : b; });
}

// Four letters, for DNA.
template <typename T>
inline void reflect_four(double* x, int64_t stride) {
  const T x0 = load<T>(x), x1 = load<T>(x + stride), x2 = load<T>(x + 2 * stride),
          x3 = load<T>(x + 3 * stride);
  const T rest = x1 + x2 + x3, half = 0.5 * (x0 - rest);
  store(T(x0 - half), x);
  store(T(x1 + half), x + stride);
  store(T(x2 + half), x + 2 * stride);
  store(T(x3 + half), x + 3 * stride);
}

void reflect_any(double* x, int64_t letters, int64_t stride) {
  const double root = __builtin_sqrt(double(letters));
  for (int64_t j = 0; j < stride; ++j) {
    double sum = 0.0;
    for (int64_t a = 0; a < letters; ++a) sum += x[a * stride + j];
    const double first = sum / root, change = (x[j] - first) / (root - 1.0);
    for (int64_t a = 1; a < letters; ++a) x[a * stride + j] += change;
    x[j] = first;
  }
}

void reflect_letters(double* table, int64_t letters, int64_t stride, int64_t groups) {
  for (int64_t g = 0; g < groups; ++g) {
    double* x = table + g * letters * stride;
    if (letters != 4) {
      reflect_any(x, letters, stride);
      continue;
    }
    int64_t j = 0;
    for (; j + kLanes <= stride; j += kLanes) reflect_four<Vec>(x + j, stride);
    for (; j < stride; ++j) reflect_four<double>(x + j, stride);
  }
}

template <int64_t width>
inline void sparse_panel_of(const double* panel, const double* data, const int32_t* indices,
                            const int64_t* indptr, int64_t j0, int64_t j1, double* out,
                            int64_t stride) {
  constexpr int64_t vectors = width / kLanes;
  for (int64_t j = j0; j < j1; ++j) {
    Vec sum[vectors] = {};
    for (int64_t e = indptr[j]; e < indptr[j + 1]; ++e) {
      const double* row = panel + int64_t(indices[e]) * width;
      const Vec x = broadcast(data[e]);
      for (int64_t v = 0; v < vectors; ++v) sum[v] += x * load<Vec>(row + v * kLanes);
    }
    for (int64_t v = 0; v < vectors; ++v)
      for (int64_t l = 0; l < kLanes; ++l) out[(v * kLanes + l) * stride + j - j0] = sum[v][l];
  }
}

void sparse_panel_tile(const double* panel, int64_t width, const double* data,
                       const int32_t* indices, const int64_t* indptr, int64_t j0, int64_t j1,
                       double* out, int64_t stride) {
  if (width == 32)
    sparse_panel_of<32>(panel, data, indices, indptr, j0, j1, out, stride);
  else
    sparse_panel_of<8>(panel, data, indices, indptr, j0, j1, out, stride);
}

double dot16(const double* a, const double* b, int64_t n) {
  constexpr int64_t vectors = 16 / kLanes;
  Vec sum[vectors] = {};
  int64_t j = 0;
  for (; j + 16 <= n; j += 16)
    for (int64_t v = 0; v < vectors; ++v)
      sum[v] += load<Vec>(a + j + v * kLanes) * load<Vec>(b + j + v * kLanes);
  double lanes[16];
  memcpy(lanes, sum, sizeof lanes);
  for (int64_t l = 0; j < n; ++j, ++l) lanes[l] += a[j] * b[j];
  for (int64_t half = 8; half; half /= 2)
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

double least_of(const double* values, int64_t n) {
  Vec best[2] = {broadcast(kInfinity), broadcast(kInfinity)};
  int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes)
    for (int64_t v = 0; v < 2; ++v) {
      const Vec x = load<Vec>(values + j + v * kLanes);
      best[v] = x < best[v] ? x : best[v];
    }
  double least = kInfinity;
  for (; j < n; ++j) least = values[j] < least ? values[j] : least;
  for (int64_t v = 0; v < 2; ++v)
    for (int64_t l = 0; l < kLanes; ++l) least = best[v][l] < least ? best[v][l] : least;
  return least;
}

// Selects the first index with the smallest up and the first with the largest down. Breaking ties
// by index gives the same steps on every SIMD level.
PairChoice choose_pair(const double* outputs, const double* slope_up, const double* slope_down,
                       int64_t n) {
  Vec best_up = broadcast(kInfinity), best_down = broadcast(-kInfinity);
  Mask at_up = {}, at_down = {}, index = {};
  for (int64_t l = 0; l < kLanes; ++l) index[l] = l;
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes, index += kLanes) {
    const Vec out = load<Vec>(outputs + j);
    const Vec up = load<Vec>(slope_up + j) + out;
    const Vec down = load<Vec>(slope_down + j) + out;
    const Mask lower = up < best_up;
    const Mask higher = down > best_down;
    best_up = lower ? up : best_up;
    at_up = lower ? index : at_up;
    best_down = higher ? down : best_down;
    at_down = higher ? index : at_down;
  }
  PairChoice choice = {kInfinity, -kInfinity, 0, 0};
  for (int64_t l = 0; l < kLanes; ++l) {
    if (best_up[l] < choice.min_up ||
        (best_up[l] == choice.min_up && at_up[l] < choice.argmin_up)) {
      choice.min_up = best_up[l];
      choice.argmin_up = at_up[l];
    }
    if (best_down[l] > choice.max_down ||
        (best_down[l] == choice.max_down && at_down[l] < choice.argmax_down)) {
      choice.max_down = best_down[l];
      choice.argmax_down = at_down[l];
    }
  }
  for (; j < n; ++j) {
    const double up = slope_up[j] + outputs[j];
    const double down = slope_down[j] + outputs[j];
    if (up < choice.min_up) choice.min_up = up, choice.argmin_up = j;
    if (down > choice.max_down) choice.max_down = down, choice.argmax_down = j;
  }
  return choice;
}

inline double gain_of(double violation, double curvature) {
  curvature = curvature > 1e-12 ? curvature : 1e-12;
  return violation > 0.0 ? violation * violation / curvature : -1.0;
}

// The partner j with the largest second-order decrease of the objective when alpha_i rises and
// alpha_j falls (Fan, Chen and Lin, 2005).
int64_t best_partner(const double* outputs, const double* slope_down, const double* curvature,
                     const double* diagonal, const double* row, double up_i, double curvature_i,
                     int64_t n) {
  const Vec zero = {}, floor = broadcast(1e-12), none = broadcast(-1.0);
  Vec best = broadcast(-2.0);
  Mask at = {}, index = {};
  for (int64_t l = 0; l < kLanes; ++l) index[l] = l;
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes, index += kLanes) {
    const Vec violation = (load<Vec>(slope_down + j) + load<Vec>(outputs + j)) - up_i;
    Vec bend = (curvature_i + load<Vec>(curvature + j)) +
               (load<Vec>(diagonal + j) - 2.0 * load<Vec>(row + j));
    bend = bend > floor ? bend : floor;
    const Vec gain = violation > zero ? violation * violation / bend : none;
    const Mask better = gain > best;
    best = better ? gain : best;
    at = better ? index : at;
  }
  double best_gain = -2.0;
  int64_t best_index = 0;
  for (int64_t l = 0; l < kLanes; ++l)
    if (best[l] > best_gain || (best[l] == best_gain && at[l] < best_index))
      best_gain = best[l], best_index = at[l];
  for (; j < n; ++j) {
    const double gain = gain_of((slope_down[j] + outputs[j]) - up_i,
                                (curvature_i + curvature[j]) + (diagonal[j] - 2.0 * row[j]));
    if (gain > best_gain) best_gain = gain, best_index = j;
  }
  return best_index;
}

void move_pair(const double* __restrict row_i, const double* __restrict row_j, double step,
               double* __restrict outputs, int64_t n) {
  for (int64_t j = 0; j < n; ++j) outputs[j] += step * (row_i[j] - row_j[j]);
}

}  // namespace

extern const CellLoops KW_JOIN(cells_, KW_LEVEL);
extern const SingleLoops KW_JOIN(single_, KW_LEVEL);
extern const WdLoops KW_JOIN(wd_, KW_LEVEL);
extern const PairLoops KW_JOIN(pairs_, KW_LEVEL);
extern const ColumnLoops KW_JOIN(column_pairs_, KW_LEVEL);
extern const GameLoops KW_JOIN(games_, KW_LEVEL);
extern const Simd KW_JOIN(simd_, KW_LEVEL);
const Simd KW_JOIN(simd_, KW_LEVEL) = {
    .name = KW_NAME(KW_LEVEL),
    .exp = exp_tile,
    .power = power_tile,
    .mul = mul_tile,
    .add = add_tile,
    .scale = scale_tile,
    .axpy = axpy_tile,
    .axpy4 = axpy4_tile,
    .unit = unit_tile,
    .center = center_tile,
    .absent = absent_tile,
    .sqdist = sqdist_tile,
    .l1 = l1_tile,
    .chi2 = chi2_tile,
    .minimum = minimum_tile,
    .sparse_panel = sparse_panel_tile,
    .combine = combine_tiles,
    .reflect = reflect_letters,
    .dot = dot16,
    .least = least_of,
    .choose = choose_pair,
    .partner = best_partner,
    .move = move_pair,
    .cells = &KW_JOIN(cells_, KW_LEVEL),
    .single = &KW_JOIN(single_, KW_LEVEL),
    .wd = &KW_JOIN(wd_, KW_LEVEL),
    .pairs = &KW_JOIN(pairs_, KW_LEVEL),
    .column_pairs = &KW_JOIN(column_pairs_, KW_LEVEL),
    .games = &KW_JOIN(games_, KW_LEVEL),
};

}  // namespace kw

// Shapley values of products. Compiled once per SIMD level; see level.h for the rules that follow.
#include "simd/games.h"

#include "simd/level.h"

namespace kw {
namespace {

typedef double Real __attribute__((vector_size(kLanes * sizeof(double))));

// Nodes that are evaluated together, as independent chains of products.
constexpr int64_t kNodes = 4;

inline Real magnitude(Real x) { return x < 0.0 ? -x : x; }

inline double largest(Real x) {
  double found = x[0];
  for (int64_t l = 1; l < kLanes; ++l) found = x[l] > found ? x[l] : found;
  return found;
}

// With f_k(t) = b_k + t d_k and d_k = a_k - b_k, the product of a pair of players is
// e0 + e1 t + e2 t^2. Layout of pairs: (lane group, pair, 3, kLanes).
GameBounds multiply_pairs(const GameTile& tile, double* pairs) {
  GameBounds bounds = {0.0, 0.0, 0.0};
  for (int64_t lane = 0; lane < kGameLanes; lane += kLanes) {
    Real middle = {}, half = {}, product = 1.0 - Real{};
    for (int64_t k = 0; k < tile.players; k += 2, pairs += 3 * kLanes) {
      const double* a = tile.a + k * kGameLanes + lane;
      const double* b = tile.b + k * kGameLanes + lane;
      const Real a0 = load<Real>(a), a1 = load<Real>(a + kGameLanes);
      const Real b0 = load<Real>(b), b1 = load<Real>(b + kGameLanes);
      const Real d0 = a0 - b0, d1 = a1 - b1;
      const Real s0 = magnitude(a0 + b0), s1 = magnitude(a1 + b1);
      const Real h0 = magnitude(d0), h1 = magnitude(d1);
      middle += s0 + s1;
      half += h0 + h1;
      product *= (0.25 * (s0 + h0)) * (s1 + h1);  // max(|a|, |b|) = (|a + b| + |a - b|) / 2
      store(b0 * b1, pairs);
      store(b0 * d1 + b1 * d0, pairs + kLanes);
      store(d0 * d1, pairs + 2 * kLanes);
    }
    const double share = 0.5 / double(tile.players);
    const double found[] = {share * largest(middle), share * largest(half), largest(product)};
    bounds.middle = found[0] > bounds.middle ? found[0] : bounds.middle;
    bounds.half = found[1] > bounds.half ? found[1] : bounds.half;
    bounds.product = found[2] > bounds.product ? found[2] : bounds.product;
  }
  return bounds;
}

// N nodes for one group of lanes. The value of player j is the integral of d_j prod_{k != j}
// f_k(t). Let g be the product of all players except a pair (0, 1): player 0 gets d_0 (b_1 int g +
// d_1 int t g). The products over the pairs before and after give g without a division.
template <int64_t N>
void product_at(const GameTile& tile, const double* pairs, const double* nodes,
                const double* weights, double factor, double* before, double* out) {
  const int64_t count = tile.players / 2;
  Real product[N];
  for (int64_t q = 0; q < N; ++q) product[q] = weights[q] * factor - Real{};
  for (int64_t p = 0; p < count; ++p) {
    const double* e = pairs + p * 3 * kLanes;
    const Real e0 = load<Real>(e), e1 = load<Real>(e + kLanes), e2 = load<Real>(e + 2 * kLanes);
    for (int64_t q = 0; q < N; ++q) {
      store(product[q], before + (p * N + q) * kLanes);
      product[q] *= e0 + nodes[q] * (e1 + nodes[q] * e2);
    }
  }
  for (int64_t q = 0; q < N; ++q) product[q] = 1.0 - Real{};
  for (int64_t p = count - 1; p >= 0; --p) {
    const double* e = pairs + p * 3 * kLanes;
    const Real e0 = load<Real>(e), e1 = load<Real>(e + kLanes), e2 = load<Real>(e + 2 * kLanes);
    Real sum = {}, first = {};  // integrals of g and of t g
    for (int64_t q = 0; q < N; ++q) {
      const Real others = product[q] * load<Real>(before + (p * N + q) * kLanes);
      sum += others;
      first += nodes[q] * others;
      product[q] *= e0 + nodes[q] * (e1 + nodes[q] * e2);
    }
    const double* a = tile.a + 2 * p * kGameLanes;
    const double* b = tile.b + 2 * p * kGameLanes;
    const Real b0 = load<Real>(b), b1 = load<Real>(b + kGameLanes);
    const Real d0 = load<Real>(a) - b0, d1 = load<Real>(a + kGameLanes) - b1;
    double* to = out + 2 * p * kGameLanes;
    store(load<Real>(to) + d0 * (b1 * sum + d1 * first), to);
    store(load<Real>(to + kGameLanes) + d1 * (b0 * sum + d0 * first), to + kGameLanes);
  }
}

void product(const GameTile& tile, const double* pairs, const NodesAndWeights& rule, double factor,
             double* scratch, double* out) {
  for (int64_t lane = 0; lane < kGameLanes; lane += kLanes) {
    const GameTile lanes = {tile.a + lane, tile.b + lane, tile.players};
    const double* own = pairs + lane * (tile.players / 2) * 3;
    int64_t q = 0;
    for (; q + kNodes <= rule.count; q += kNodes)
      product_at<kNodes>(lanes, own, rule.nodes + q, rule.weights + q, factor, scratch, out + lane);
    const double *nodes = rule.nodes + q, *weights = rule.weights + q;
    if (rule.count - q == 3)
      product_at<3>(lanes, own, nodes, weights, factor, scratch, out + lane);
    else if (rule.count - q == 2)
      product_at<2>(lanes, own, nodes, weights, factor, scratch, out + lane);
    else if (rule.count - q == 1)
      product_at<1>(lanes, own, nodes, weights, factor, scratch, out + lane);
  }
}

// Polynomials in a variable l, truncated after l^degree: (constant + sum)^degree is degree! times
// the coefficient of l^degree in exp(l constant) prod exp(l u_k), so that a polynomial of a sum is
// a product game over such series.
struct Series {
  Real c[kMaxGameDegree + 1];
};

inline Series exponential(Real scale, Real x, int64_t degree) {
  Series s;
  s.c[0] = scale;
  for (int64_t i = 1; i <= degree; ++i) s.c[i] = s.c[i - 1] * x / double(i);
  return s;
}

inline Series times(const Series& x, const Series& y, int64_t degree) {
  Series z;
  for (int64_t i = 0; i <= degree; ++i) {
    z.c[i] = x.c[0] * y.c[i];
    for (int64_t j = 1; j <= i; ++j) z.c[i] += x.c[j] * y.c[i - j];
  }
  return z;
}

inline Series get(const double* from, int64_t degree) {
  Series s;
  for (int64_t i = 0; i <= degree; ++i) s.c[i] = load<Real>(from + i * kLanes);
  return s;
}

inline void put(const Series& s, double* to, int64_t degree) {
  for (int64_t i = 0; i <= degree; ++i) store(s.c[i], to + i * kLanes);
}

void polynomial(const PolynomialGameTile& game, const NodesAndWeights& rule, double factor,
                double* scratch, double* out) {
  const GameTile& tile = game.product;
  const int64_t degree = game.degree, size = (degree + 1) * kLanes;
  double scaled = factor;
  for (int64_t i = 2; i <= degree; ++i) scaled *= double(i);
  double* const before = scratch;  // (players, size): products of the players before each one
  double* const factors = scratch + tile.players * size;  // (players, size): f_k(t)
  for (int64_t lane = 0; lane < kGameLanes; lane += kLanes) {
    const auto at = [&](const double* values, int64_t k) {
      return load<Real>(values + k * kGameLanes + lane);
    };
    for (int64_t q = 0; q < rule.count; ++q) {
      const double t = rule.nodes[q];
      Series product =
          exponential(rule.weights[q] * scaled - Real{}, game.constant - Real{}, degree);
      for (int64_t k = 0; k < tile.players; ++k) {
        const Series a = exponential(at(tile.a, k), at(game.u, k), degree);
        Series f = exponential(at(tile.b, k), at(game.v, k), degree);
        for (int64_t i = 0; i <= degree; ++i) f.c[i] += t * (a.c[i] - f.c[i]);
        put(product, before + k * size, degree);
        put(f, factors + k * size, degree);
        product = times(product, f, degree);
      }
      product = exponential(1.0 - Real{}, Real{}, degree);
      for (int64_t k = tile.players - 1; k >= 0; --k) {
        const Series a = exponential(at(tile.a, k), at(game.u, k), degree);
        const Series b = exponential(at(tile.b, k), at(game.v, k), degree);
        const Series others = times(product, get(before + k * size, degree), degree);
        Real value = {};
        for (int64_t i = 0; i <= degree; ++i) value += (a.c[i] - b.c[i]) * others.c[degree - i];
        double* to = out + k * kGameLanes + lane;
        store(load<Real>(to) + value, to);
        product = times(product, get(factors + k * size, degree), degree);
      }
    }
  }
}

}  // namespace

extern const GameLoops KW_JOIN(games_, KW_LEVEL);
const GameLoops KW_JOIN(games_, KW_LEVEL) = {multiply_pairs, product, polynomial};

}  // namespace kw

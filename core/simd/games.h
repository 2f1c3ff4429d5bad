// Shapley values of products for a tile of 16 support vectors: the table of loops behind
// explain/product_games.h.
#pragma once
#include <stdint.h>

namespace kw {

constexpr int64_t kGameLanes = 16;     // support vectors of a tile
constexpr int64_t kMaxGameDegree = 8;  // largest degree of the polynomial in a product

// Nodes and weights of a quadrature on [0, 1].
struct NodesAndWeights {
  const double* nodes;
  const double* weights;
  int64_t count;
};

// A tile of games v(S) = prod_{k in S} a_k prod_{k not in S} b_k. Arrays are (players, 16).
struct GameTile {
  const double* a;
  const double* b;
  int64_t players;
};

// A product game times (constant + sum_{k in S} u_k + sum_{k not in S} v_k)^degree.
struct PolynomialGameTile {
  GameTile product;
  const double* u;
  const double* v;
  double constant;
  int64_t degree;  // at most kMaxGameDegree
};

// Maxima over a tile, from which the error of a quadrature is bounded.
struct GameBounds {
  double middle;   // mean over players of |a_k + b_k| / 2
  double half;     // mean over players of |a_k - b_k| / 2
  double product;  // prod_k max(|a_k|, |b_k|)
};

struct GameLoops {
  // Multiplies the factors of each pair of players; `players` is even. pairs: 24 * players numbers.
  GameBounds (*multiply_pairs)(const GameTile& tile, double* pairs);
  // out[k] += factor * Shapley value of player k. pairs: from multiply_pairs; scratch: 32 * players
  // numbers.
  void (*product)(const GameTile& tile, const double* pairs, const NodesAndWeights& rule,
                  double factor, double* scratch, double* out);
  // The same for any number of players. scratch: 32 * players * (degree + 1) numbers.
  void (*polynomial)(const PolynomialGameTile& tile, const NodesAndWeights& rule, double factor,
                     double* scratch, double* out);
};

}  // namespace kw

#include "explain/product_games.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "explain/quadrature.h"
#include "simd/games.h"
#include "simd/simd.h"
#include "system/team.h"

namespace kw {
namespace {

// Examples that share a tile of the background in the cache.
constexpr int64_t kExamplesPerTask = 8;

// Sums rho of the semi-axes of the Bernstein ellipses on which the integrand is bounded. Small
// ellipses suit products whose factors differ much between x and z, large ones those whose factors
// hardly differ.
constexpr std::array kRho = {1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 200.0, 1000.0};

// Gauss-Legendre rules with increasing numbers of nodes; the last one is exact.
class Rules {
 public:
  Rules(int64_t exact, int64_t players) {
    for (int64_t count = 1; count < exact; count += 1 + count / 16) add(count, players);
    add(exact, players);
  }

  // Returns the smallest rule whose error is below rounding for all players; null if the Shapley
  // values themselves are below rounding, so that they count as 0.
  const NodesAndWeights* choose(const GameBounds& bounds) const {
    if (bounds.product <= kTolerance) return nullptr;
    const auto fails = [&](const Most& most) {
      for (size_t e = 0; e < kRho.size(); ++e)
        if (bounds.middle + 0.5 * (kRho[e] + 1.0 / kRho[e]) * bounds.half <= most[e]) return false;
      return true;
    };
    const auto found = std::partition_point(most_.begin(), most_.end() - 1, fails);
    return &rules_[found - most_.begin()];
  }

  const NodesAndWeights& exact() const { return rules_.back(); }

 private:
  using Most = std::array<double, kRho.size()>;
  static constexpr double kTolerance = std::numeric_limits<double>::epsilon();

  // If a function is bounded by M in the ellipse of rho, its Chebyshev coefficients are at most 2 M
  // / rho^i. A rule with q nodes integrates T_i exactly for i < 2 q and for odd i. Its error on [0,
  // 1] is therefore at most 32/15 M rho^(-2 q) / (1 - rho^-2) (Trefethen, Approximation Theory and
  // Approximation Practice, theorem 19.3). In the ellipse |b + t (a - b)| is at most |a + b| / 2 +
  // c |a - b| / 2 with c = (rho + 1 / rho) / 2, so that M is at most the mean of these bounds over
  // the players, to the power of their number. If player j is replaced by a_j - b_j, the bound
  // grows by a factor of at most 2. `Most` is the largest such mean for which a rule is accurate
  // enough.
  void add(int64_t count, int64_t players) {
    held_.push_back(gauss_legendre(count));
    const Quadrature& rule = held_.back();
    rules_.push_back({rule.nodes.data(), rule.weights.data(), count});
    Most most;
    for (size_t e = 0; e < kRho.size(); ++e) {
      const double bound = kTolerance * (1.0 - 1.0 / (kRho[e] * kRho[e])) * 15.0 / 64.0;
      most[e] =
          std::exp((std::log(bound) + 2.0 * double(count) * std::log(kRho[e])) / double(players));
    }
    most_.push_back(most);
  }

  std::vector<Quadrature> held_;
  std::vector<NodesAndWeights> rules_;
  std::vector<Most> most_;
};

// Factors in the layout (tile, row, player, 16) instead of (player, row, support). Missing support
// vectors of the last tile have factors 0; a player added to make their number even has factors 1.
class Tiles {
 public:
  Tiles(const double* values, int64_t players, int64_t rows, int64_t support, int64_t padded)
      : rows_(rows), players_(padded), tiles_((support + kGameLanes - 1) / kGameLanes) {
    if (!values) return;
    data_.assign(tiles_ * rows * padded * kGameLanes, 0.0);
    for (int64_t k = 0; k < padded; ++k)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t s = 0; s < support; ++s)
          const_cast<double*>(at(s / kGameLanes, r))[k * kGameLanes + s % kGameLanes] =
              k < players ? values[(k * rows + r) * support + s] : 1.0;
  }

  const double* at(int64_t tile, int64_t row) const {
    return data_.data() + (tile * rows_ + row) * players_ * kGameLanes;
  }
  int64_t count() const { return tiles_; }

 private:
  const int64_t rows_, players_, tiles_;
  std::vector<double> data_;
};

class Solver {
 public:
  explicit Solver(const ProductGames& games)
      : games_(games),
        players_(games.degree ? games.players : (games.players + 1) / 2 * 2),
        a_(games.a, games.players, games.examples, games.support, players_),
        b_(games.b, games.players, games.background, games.support, players_),
        u_(games.u, games.players, games.examples, games.support, players_),
        v_(games.v, games.players, games.background, games.support, players_),
        rules_(exact_nodes(games), players_) {}

  void solve(int threads, double* out) const {
    const int64_t tasks = (games_.examples + kExamplesPerTask - 1) / kExamplesPerTask;
    run_team(threads, tasks, [&](int64_t task, int) {
      const int64_t first = task * kExamplesPerTask;
      const int64_t last = std::min(games_.examples, first + kExamplesPerTask);
      std::vector<double> scratch(std::max<int64_t>(56, 32 * (games_.degree + 1)) * players_);
      std::vector<double> values(players_ * kGameLanes);
      for (int64_t tile = 0; tile < a_.count(); ++tile)
        for (int64_t i = first; i < last; ++i) {
          std::fill(values.begin(), values.end(), 0.0);
          for (int64_t z = 0; z < games_.background; ++z)
            add_values(tile, i, z, scratch.data(), values.data());
          add_outputs(tile, i, values.data(), out);
          check_interrupt();
        }
    });
  }

 private:
  static int64_t exact_nodes(const ProductGames& games) {
    const int64_t factors = games.constant_factors ? games.degree : games.players;
    return std::max<int64_t>(1, (std::min(factors, games.players) + 1) / 2);
  }

  void add_values(int64_t tile, int64_t i, int64_t z, double* scratch, double* values) const {
    const GameLoops& loops = *simd().games;
    const GameTile game = {a_.at(tile, i), b_.at(tile, z), players_};
    const double weight = games_.weights[z];
    if (games_.degree) {
      const PolynomialGameTile whole = {game, u_.at(tile, i), v_.at(tile, z), games_.constant,
                                        games_.degree};
      loops.polynomial(whole, rules_.exact(), weight, scratch, values);
      return;
    }
    double* const pairs = scratch + 32 * players_;
    const GameBounds bounds = loops.multiply_pairs(game, pairs);
    if (const NodesAndWeights* rule = rules_.choose(bounds))
      loops.product(game, pairs, *rule, weight, scratch, values);
  }

  void add_outputs(int64_t tile, int64_t i, const double* values, double* out) const {
    const int64_t first = tile * kGameLanes;
    const int64_t lanes = std::min(kGameLanes, games_.support - first);
    for (int64_t c = 0; c < games_.outputs; ++c)
      for (int64_t k = 0; k < games_.players; ++k) {
        double sum = 0.0;
        for (int64_t l = 0; l < lanes; ++l)
          sum += games_.coef[c * games_.support + first + l] * values[k * kGameLanes + l];
        out[(i * games_.outputs + c) * games_.players + k] += sum;
      }
  }

  const ProductGames& games_;
  const int64_t players_;  // even if products are computed for pairs of players
  const Tiles a_, b_, u_, v_;
  const Rules rules_;
};

}  // namespace

void shapley_of_products(const ProductGames& games, int threads, double* out) {
  Solver(games).solve(threads, out);
}

}  // namespace kw

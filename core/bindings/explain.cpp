// Python functions for Shapley values.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "bindings/bindings.h"
#include "explain/product_games.h"
#include "simd/games.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

using Cube = In<double, 3>;

void check_shape(const Cube& values, size_t players, size_t rows, size_t support) {
  require(values.shape(0) == players && values.shape(1) == rows && values.shape(2) == support,
          "product_games: the arrays differ in shape");
}

Out product_games(Cube a, Cube b, Vector weights, Matrix coef, std::optional<Cube> u,
                  std::optional<Cube> v, double constant, int64_t degree, bool constant_factors,
                  int n_jobs) {
  const size_t players = a.shape(0), examples = a.shape(1), support = a.shape(2);
  check_threads(n_jobs);
  require(players > 0, "product_games: there are no players");
  check_shape(b, players, weights.shape(0), support);
  require(coef.shape(1) == support, "product_games: the arrays differ in shape");
  require(degree >= 0 && degree <= kMaxGameDegree, "product_games: the degree is out of range");
  require(bool(u) == (degree > 0) && bool(v) == (degree > 0),
          "product_games: a degree needs values of a sum");
  if (u) check_shape(*u, players, examples, support);
  if (v) check_shape(*v, players, weights.shape(0), support);
  Out out = make_array({examples, coef.shape(0), players});
  std::fill_n(out.data(), examples * coef.shape(0) * players, 0.0);
  const ProductGames games = {.players = int64_t(players),
                              .examples = int64_t(examples),
                              .background = int64_t(weights.shape(0)),
                              .support = int64_t(support),
                              .outputs = int64_t(coef.shape(0)),
                              .a = a.data(),
                              .b = b.data(),
                              .u = u ? u->data() : nullptr,
                              .v = v ? v->data() : nullptr,
                              .weights = weights.data(),
                              .coef = coef.data(),
                              .constant = constant,
                              .degree = degree,
                              .constant_factors = constant_factors};
  without_lock([&] { shapley_of_products(games, n_jobs, out.data()); });
  return out;
}

}  // namespace

void bind_explain(nb::module_& m) {
  m.attr("MAX_GAME_DEGREE") = kMaxGameDegree;
  m.def("product_games", product_games, "a"_a, "b"_a, "weights"_a, "coef"_a, "u"_a = nb::none(),
        "v"_a = nb::none(), "constant"_a = 0.0, "degree"_a = 0, "constant_factors"_a = false,
        "n_jobs"_a = 1);
}

}  // namespace kw

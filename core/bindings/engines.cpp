// Python classes of the engines.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "engine/class_pairs.h"
#include "engine/engine.h"
#include "engine/linear_engine.h"
#include "engine/mixture.h"
#include "engine/stack.h"
#include "engine/sum.h"
#include "kernels/products.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

std::unique_ptr<SharedRows> rows_of(const Program& program, const Side& side, int64_t cache_bytes,
                                    int n_jobs) {
  check_threads(n_jobs);
  return std::make_unique<SharedRows>(std::make_shared<const Program>(program), side, cache_bytes,
                                      n_jobs);
}

// Operations that every engine must have to be bound.
template <typename Kind>
concept EngineKind = requires(Kind& engine, IdSpan ids) {
  { engine.n() } -> std::same_as<int64_t>;
  { engine.n_kernels() } -> std::same_as<int64_t>;
  { engine.subset(ids) } -> std::same_as<std::unique_ptr<Kind>>;
};

// An engine that evaluates kernels on its examples.
template <typename Kind>
concept Evaluates = EngineKind<Kind> && requires(const Kind& engine) {
  { engine.program() } -> std::same_as<const Program&>;
  { engine.side() } -> std::same_as<const Side&>;
  { engine.threads() } -> std::same_as<int>;
};

// Throws unless there is one value for each of some examples of an engine.
template <typename Kind>
void check_values(const Kind& engine, Ids ids, Vector values, const char* message) {
  check_ids(engine.n(), ids);
  require(ids.shape(0) == values.shape(0), message);
}

template <typename Kind>
void weigh(Kind& kernels, Vector weights) {
  require(int64_t(weights.shape(0)) == kernels.n_kernels(), "weigh: one weight per kernel");
  without_lock([&] { kernels.weigh(weights.data()); });
}

// The outputs of every kernel, a view of the memory of the engine.
template <EngineKind Kind>
nb::ndarray<nb::numpy, double, nb::ndim<2>> outputs_of_all(Kind& engine) {
  return {engine.outputs(), {size_t(engine.n_kernels()), size_t(engine.n())}, nb::find(engine)};
}

template <EngineKind Kind>
Out block(Kind& engine, Ids ids, Vector weights) {
  check_ids(engine.n(), ids);
  require(int64_t(weights.shape(0)) == engine.n_kernels(), "block: one weight per kernel");
  return computed({ids.shape(0), ids.shape(0)},
                  [&](double* out) { engine.block(span_of(ids), weights.data(), out); });
}

template <EngineKind Kind>
Out blocks_of(const Kind& engine, Ids ids) {
  check_ids(engine.n(), ids);
  Out out = make_array({size_t(engine.n_kernels()), ids.shape(0), ids.shape(0)});
  without_lock([&] {
    if constexpr (Evaluates<Kind>)
      blocks(engine.program(), engine.side(), span_of(ids), engine.threads(), out.data());
    else
      engine.blocks(span_of(ids), out.data());
  });
  return out;
}

template <EngineKind Kind>
void add(Kind& engine, Ids ids, Vector delta) {
  check_values(engine, ids, delta, "add: ids and delta differ in length");
  without_lock([&] { engine.add(span_of(ids), span_of(delta)); });
}

template <EngineKind Kind>
Out diagonal_of(const Kind& engine) {
  Out out = make_array({size_t(engine.n_kernels()), size_t(engine.n())});
  without_lock([&] {
    if constexpr (Evaluates<Kind>)
      diagonal(engine.program(), engine.side(), out.data());
    else
      engine.diagonal(out.data());
  });
  return out;
}

template <EngineKind Kind>
std::unique_ptr<Kind> subset(Kind& engine, Ids ids) {
  check_ids(engine.n(), ids);
  std::unique_ptr<Kind> smaller;
  without_lock([&] { smaller = engine.subset(span_of(ids)); });
  return smaller;
}

// Binds the operations that all engines have.
template <EngineKind Kind>
nb::class_<Kind> bind_engine(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Kind>(m, name, doc)
      .def_prop_ro("n", &Kind::n)
      .def_prop_ro("n_kernels", &Kind::n_kernels)
      .def("blocks", &blocks_of<Kind>, "ids"_a)
      .def("add", &add<Kind>, "ids"_a, "delta"_a)
      .def("diagonal", &diagonal_of<Kind>)
      .def("subset", &subset<Kind>, "ids"_a);
}

// The matrices of linear kernels; null if their tables do not fit into the memory of the cache.
// Without `keep` no tables are kept.
template <Evaluates Kind>
std::unique_ptr<Products> products_of(const Kind& engine, bool keep) {
  if (keep && !engine.plan().multiplies_in(engine.cache_bytes())) return nullptr;
  std::unique_ptr<Products> products;
  without_lock([&] {
    products = engine.plan().products(keep ? engine.cache_bytes() : 0, engine.threads());
  });
  return products;
}

// Binds matrix-vector products, and what they cost.
template <Evaluates Kind>
void bind_plan(nb::class_<Kind>& engine) {
  engine
      .def_prop_ro(
          "reads", [](const Kind& engine) { return reads_of(engine.program(), engine.side()); },
          "Cost of a pair of examples, in units of reading one cached value.")
      .def_prop_ro(
          "keeps_products",
          [](const Kind& engine) { return engine.plan().product_bytes() <= engine.cache_bytes(); },
          "Whether the tables of products fit into the memory of the cache.")
      .def_prop_ro(
          "has_products",
          [](const Kind& engine) { return engine.plan().multiplies_in(engine.cache_bytes()); },
          "Whether `products` returns the matrices; builds no tables.")
      .def_prop_ro("products_are_fixed",
                   [](const Kind& engine) { return engine.plan().products_are_fixed(); })
      .def("products", &products_of<Kind>, "keep"_a = true, nb::keep_alive<0, 1>(),
           "The kernel matrices as operators; None if their tables need too much memory. Without "
           "keep every product recomputes its tables.");
}

Out multiply(const Products& matrices, Vector v) {
  require(int64_t(v.shape(0)) == matrices.n(), "Products: one number per example");
  return computed({size_t(matrices.n())}, [&](double* out) { matrices.multiply(v.data(), out); });
}

Out quadratic_forms_of(const Products& matrices, Vector v) {
  require(int64_t(v.shape(0)) == matrices.n(), "Products: one number per example");
  return computed({size_t(matrices.n_kernels())},
                  [&](double* out) { matrices.quadratic(v.data(), out); });
}

Out products_at(const Products& matrices, Vector v, Ids ids, bool weighed) {
  require(int64_t(v.shape(0)) == matrices.n(), "Products: one number per example");
  check_ids(matrices.n(), ids);
  return computed({size_t(matrices.n_kernels()), ids.shape(0)},
                  [&](double* out) { matrices.outputs(v.data(), span_of(ids), weighed, out); });
}

void bind_products(nb::module_& m) {
  nb::class_<Products>(m, "Products", "Kernel matrices as operators for matrix-vector products.")
      .def("weigh", &weigh<Products>, "weights"_a)
      .def("__matmul__", &multiply, "v"_a, "The weighted sum of the matrices times a vector.")
      .def("quadratic", &quadratic_forms_of, "v"_a, "v' K v for each matrix.")
      .def("outputs", &products_at, "v"_a, "ids"_a, "weighed"_a = false,
           "Rows `ids` of each matrix times a vector, (M, count); 0 for kernels without weight if "
           "weighed.");
}

// The engine of the plain sum of all kernels (engine/sum.h).
std::unique_ptr<Engine> engine_of_sum(const Program& program, const Side& side, int64_t cache_bytes,
                                      int n_jobs) {
  program.check(side, side);
  return std::make_unique<Engine>(rows_of(sum_of(std::make_shared<const Program>(program)),
                                          examples_of_sum(side), cache_bytes, n_jobs));
}

std::optional<Out> multiply_all(const Engine& engine, Vector v) {
  require(int64_t(v.shape(0)) == engine.n(), "multiply: one number per example");
  Out out = make_array({size_t(engine.n_kernels()), size_t(engine.n())});
  bool done = false;
  without_lock([&] { done = engine.multiply(v.data(), out.data()); });
  return done ? std::optional(out) : std::nullopt;
}

void bind_dense(nb::module_& m) {
  auto engine = bind_engine<Engine>(
      m, "Engine", "Examples, their kernels, and the outputs of the current alpha.");
  bind_plan(engine);
  engine
      .def(
          "__init__",
          [](Engine* engine, const Program& program, const Side& side, int64_t cache_bytes,
             int n_jobs) { new (engine) Engine(rows_of(program, side, cache_bytes, n_jobs)); },
          "program"_a, "side"_a, "cache_bytes"_a, "n_jobs"_a = 1)
      .def_prop_ro("cached_rows", &Engine::cached_rows)
      .def_static("of_sum", &engine_of_sum, "program"_a, "side"_a, "cache_bytes"_a, "n_jobs"_a = 1)
      .def_static(
          "is_linear", [](const Program& program) { return linear_terms(program).has_value(); },
          "program"_a)
      .def_prop_ro("outputs", &outputs_of_all<Engine>, nb::rv_policy::reference_internal)
      .def("block", &block<Engine>, "ids"_a, "weights"_a)
      .def("multiply", &multiply_all, "v"_a,
           "Every matrix times a vector; None if rows are cheaper, or the only way.");
}

void bind_stack(nb::module_& m) {
  bind_engine<Stack>(m, "Stack", "The values of all kernels between all examples.")
      .def(
          "__init__",
          [](Stack* stack, const Program& program, const Side& side, int n_jobs) {
            check_threads(n_jobs);
            without_lock([&] { new (stack) Stack(program, side, n_jobs); });
          },
          "program"_a, "side"_a, "n_jobs"_a = 1)
      .def_prop_ro("outputs", &outputs_of_all<Stack>, nb::rv_policy::reference_internal)
      .def_prop_ro(
          "values",
          [](const Stack& stack) {
            return nb::ndarray<nb::numpy, const double, nb::ndim<4>>(
                stack.values(),
                {size_t(stack.n()), size_t(stack.n_tiles()), size_t(stack.n_kernels()),
                 size_t(Stack::kTile)},
                nb::find(stack));
          },
          nb::rv_policy::reference_internal, "k_m(x_i, x_j), (n, tiles, M, 16) for i, j, m, j.")
      .def("block", &block<Stack>, "ids"_a, "weights"_a);
}

Out solve_class_pairs(const ClassPairs& pairs, Ids chosen, Vector lin, Vector eps, Vector curv,
                      Vector ent, Vector lo, Vector hi, Vector constants, double gap,
                      int64_t working_set, int64_t fresh, int64_t most_sets, InOut<1> alpha,
                      InOut<1> outputs) {
  const char* const message = "ClassPairs: one number per example of every pair";
  const size_t n = size_t(pairs.n());
  for (const Vector* part : {&lin, &eps, &curv, &ent, &lo, &hi})
    require(part->shape(0) == n, message);
  require(alpha.shape(0) == n && outputs.shape(0) == n, message);
  require(int64_t(constants.shape(0)) == pairs.n_pairs(), "ClassPairs: one constant per pair");
  require(working_set >= 2 && fresh >= 2 && most_sets >= 1,
          "ClassPairs: working sets must have examples");
  for (size_t i = 0; i < n; ++i)
    require(ent.data()[i] == 0.0, "ClassPairs: losses with an entropy are not served");
  check_ids(pairs.n_pairs(), chosen);
  const DualTerm term = {lin.data(), eps.data(), curv.data(), ent.data(), lo.data(), hi.data()};
  Out gaps = make_array({chosen.shape(0)});
  without_lock([&] {
    pairs.solve(span_of(chosen), term, constants.data(), {gap, working_set, fresh, most_sets},
                alpha.data(), outputs.data(), gaps.data());
  });
  return gaps;
}

void bind_class_pairs(nb::module_& m) {
  nb::class_<ClassPairs>(m, "ClassPairs", "The two-class problems of all pairs of classes.")
      .def(
          "__init__",
          [](ClassPairs* pairs, const Program& program, const Side& side, Ids starts,
             int64_t cache_bytes, int n_jobs, bool combine) {
            check_threads(n_jobs);
            const IdSpan given = span_of(starts);
            require(given.size() >= 3 && given.front() == 0 && given.back() == side.n &&
                        std::is_sorted(given.begin(), given.end()),
                    "ClassPairs: starts must lead from 0 to the number of examples");
            require(!combine || Mixture::serves(program), "ClassPairs: kernels cannot be combined");
            without_lock([&] {
              new (pairs) ClassPairs(std::make_shared<const Program>(program), side,
                                     {given.begin(), given.end()}, cache_bytes, n_jobs, combine);
            });
          },
          "program"_a, "side"_a, "starts"_a, "cache_bytes"_a, "n_jobs"_a = 1, "combine"_a = false)
      .def_prop_ro("n", &ClassPairs::n)
      .def_prop_ro("n_pairs", &ClassPairs::n_pairs)
      .def_prop_ro("n_kernels", &ClassPairs::n_kernels)
      .def("weigh", &weigh<ClassPairs>, "weights"_a)
      .def("solve", &solve_class_pairs, "chosen"_a, "lin"_a, "eps"_a, "curv"_a, "ent"_a, "lo"_a,
           "hi"_a, "constants"_a, "gap"_a, "working_set"_a, "fresh"_a, "most_sets"_a, "alpha"_a,
           "outputs"_a,
           "Improve alpha of some pairs in place, set their outputs, and return their gaps.")
      .def(
          "outputs",
          [](const ClassPairs& pairs, Vector alpha) {
            require(int64_t(alpha.shape(0)) == pairs.n(), "outputs: one alpha per example");
            Out out = make_array({size_t(pairs.n())});
            without_lock([&] { pairs.outputs(alpha.data(), out.data()); });
            return out;
          },
          "alpha"_a, "Combined outputs of alpha, under the weights of `weigh`.")
      .def(
          "block",
          [](const ClassPairs& pairs, int64_t pair, Ids ids) {
            require(0 <= pair && pair < pairs.n_pairs(), "block: no such pair");
            const IdSpan given = span_of(ids);
            check_ids(pairs.size(pair), ids);
            require(std::is_sorted(given.begin(), given.end()), "block: ids must be increasing");
            Out out = make_array({given.size(), given.size()});
            without_lock([&] { pairs.block(pair, given, out.data()); });
            return out;
          },
          "pair"_a, "ids"_a, "Combined kernel between examples of a pair, by position in it.")
      .def(
          "quadratic",
          [](const ClassPairs& pairs, Vector alpha) {
            require(int64_t(alpha.shape(0)) == pairs.n(), "quadratic: one alpha per example");
            Out out = make_array({size_t(pairs.n_kernels())});
            without_lock([&] { pairs.quadratic(alpha.data(), out.data()); });
            return out;
          },
          "alpha"_a, "alpha' K_m alpha of every kernel, summed over the pairs, (M,).");
}

Out linear_sum(const LinearEngine& engine, Ids ids, Vector delta, Vector weights) {
  check_values(engine, ids, delta, "combined: ids and delta differ in length");
  require(int64_t(weights.shape(0)) == engine.n_kernels(), "combined: one weight per kernel");
  Out out = make_array({size_t(engine.n())});
  std::fill_n(out.data(), engine.n(), 0.0);
  without_lock([&] { engine.add(span_of(ids), span_of(delta), weights.data(), out.data()); });
  return out;
}

void bind_linear(nb::module_& m) {
  nb::class_<LinearEngine> engine(m, "LinearEngine",
                                  "Examples, and kernels with cheap matrix-vector products.");
  bind_plan(engine);
  engine
      .def(
          "__init__",
          [](LinearEngine* engine, const Program& program, const Side& side, int64_t cache_bytes,
             int n_jobs) {
            check_threads(n_jobs);
            require(LinearEngine::serves(program, side),
                    "LinearEngine: some kernels have no cheap products");
            new (engine)
                LinearEngine(std::make_shared<const Program>(program), side, cache_bytes, n_jobs);
          },
          "program"_a, "side"_a, "cache_bytes"_a, "n_jobs"_a = 1)
      .def_static("serves", &LinearEngine::serves, "program"_a, "side"_a)
      .def_prop_ro("n", &LinearEngine::n)
      .def_prop_ro("products_are_separate",
                   [](const LinearEngine& engine) { return engine.plan().products_are_separate(); })
      .def_prop_ro("n_kernels", &LinearEngine::n_kernels)
      .def(
          "product_bytes",
          [](const LinearEngine& engine) {
            Out out = make_array({size_t(engine.n_kernels())});
            engine.plan().product_bytes(out.data());
            return out;
          },
          "Bytes of the tables of each kernel.")
      .def("block", &block<LinearEngine>, "ids"_a, "weights"_a)
      .def("blocks", &blocks_of<LinearEngine>, "ids"_a)
      .def("combined", &linear_sum, "ids"_a, "delta"_a, "weights"_a,
           "The weighted sum of the kernels of some examples, for all examples.")
      .def("diagonal", &diagonal_of<LinearEngine>)
      .def("subset", &subset<LinearEngine>, "ids"_a);
}

Out quadratic_forms(Mixture& mixture, Ids ids, Vector alpha) {
  check_values(mixture, ids, alpha, "quadratic: ids and alpha differ in length");
  return computed({size_t(mixture.n_kernels())},
                  [&](double* out) { mixture.quadratic(span_of(ids), span_of(alpha), out); });
}

Out combine(Mixture& mixture, Ids ids, Vector alpha) {
  check_values(mixture, ids, alpha, "combine: ids and alpha differ in length");
  return computed({size_t(mixture.n_kernels())},
                  [&](double* out) { mixture.combine(span_of(ids), span_of(alpha), out); });
}

Out quadratic_forms_of_rows(const Mixture& mixture, Ids ids, int64_t rows, Vector alpha) {
  check_values(mixture, ids, alpha, "quadratic_of_rows: ids and alpha differ in length");
  require(0 <= rows && rows <= int64_t(ids.shape(0)), "quadratic_of_rows: too many rows");
  return computed({size_t(mixture.n_kernels())}, [&](double* out) {
    mixture.quadratic_of_rows(span_of(ids), rows, span_of(alpha), out);
  });
}

Out outputs_of(const Mixture& mixture, Ids ids, Vector alpha, Ids kernels) {
  check_ids(mixture.n(), ids);
  check_ids(mixture.n_kernels(), kernels);
  require(ids.shape(0) == alpha.shape(0), "outputs: ids and alpha differ in length");
  return computed({kernels.shape(0), size_t(mixture.n())}, [&](double* out) {
    mixture.outputs(span_of(ids), span_of(alpha), span_of(kernels), out);
  });
}

void require_single(const Mixture& mixture, Ids ids, Vector alpha) {
  check_values(mixture, ids, alpha, "single passes: ids and alpha differ in length");
  require(mixture.has_single_passes(), "single passes do not serve these kernels and examples");
}

void add_once(Mixture& mixture, Ids ids, Vector delta) {
  check_values(mixture, ids, delta, "add_once: ids and delta differ in length");
  const bool keeps = false;
  without_lock([&] { mixture.add(span_of(ids), span_of(delta), keeps); });
}

Out block_single(const Mixture& mixture, Ids ids) {
  check_ids(mixture.n(), ids);
  require(mixture.has_single_passes(), "single passes do not serve these kernels and examples");
  return computed({ids.shape(0), ids.shape(0)},
                  [&](double* out) { mixture.block_single(span_of(ids), out); });
}

void add_single(Mixture& mixture, Ids ids, Vector delta) {
  require_single(mixture, ids, delta);
  without_lock([&] { mixture.add_single(span_of(ids), span_of(delta)); });
}

void add_single_at(Mixture& mixture, Ids ids, Vector delta, Ids columns) {
  require_single(mixture, ids, delta);
  check_ids(mixture.n(), columns);
  without_lock([&] { mixture.add_single_at(span_of(ids), span_of(delta), span_of(columns)); });
}

Out outputs_single(const Mixture& mixture, Ids ids, Vector alpha, Ids columns) {
  require_single(mixture, ids, alpha);
  check_ids(mixture.n(), columns);
  return computed({size_t(mixture.n_kernels()), columns.shape(0)}, [&](double* out) {
    mixture.outputs_single(span_of(ids), span_of(alpha), span_of(columns), out);
  });
}

nb::list spread(Mixture& mixture, Vector alpha, Ids columns) {
  check_ids(mixture.n(), columns);
  require(int64_t(alpha.shape(0)) == mixture.n(), "spread: one alpha per example");
  nb::list parts;
  std::vector<double*> out;
  for (const Profile& profile : mixture.profiles()) {
    Out part = make_array({columns.shape(0), size_t(profile.nodes().count())});
    out.push_back(part.data());
    parts.append(part);
  }
  without_lock([&] { mixture.spread(span_of(alpha), span_of(columns), out); });
  return parts;
}

nb::tuple family(const Mixture& mixture, size_t number) {
  require(number < mixture.profiles().size(), "family: no such family");
  const Profile& profile = mixture.profiles()[number];
  const std::vector<int64_t> kernels = profile.kernels();
  Out values = make_array({kernels.size(), size_t(profile.nodes().count())});
  profile.sample(mixture.program(), values.data());
  return nb::make_tuple(nb::cast(kernels), values);
}

void bind_mixture(nb::module_& m) {
  bind_engine<Mixture>(m, "Mixture", "Examples and the combined outputs of a family of kernels.")
      .def(
          "__init__",
          [](Mixture* mixture, const Program& program, const Side& side, int64_t cache_bytes,
             int n_jobs) {
            require(Mixture::serves(program), "Mixture: not a family of functions of one quantity");
            new (mixture) Mixture(rows_of(program, side, cache_bytes, n_jobs));
          },
          "program"_a, "side"_a, "cache_bytes"_a, "n_jobs"_a = 1)
      .def_static("serves", &Mixture::serves, "program"_a)
      .def_prop_ro("cached_rows", &Mixture::cached_rows)
      .def_prop_ro(
          "combined",
          [](Mixture& mixture) {
            return nb::ndarray<nb::numpy, double, nb::ndim<1>>(
                mixture.combined(), {size_t(mixture.n())}, nb::find(mixture));
          },
          nb::rv_policy::reference_internal)
      .def("weigh", &weigh<Mixture>, "weights"_a)
      .def(
          "block",
          [](Mixture& mixture, Ids ids) {
            check_ids(mixture.n(), ids);
            return computed({ids.shape(0), ids.shape(0)},
                            [&](double* out) { mixture.block(span_of(ids), out); });
          },
          "ids"_a)
      .def("quadratic", &quadratic_forms, "ids"_a, "alpha"_a)
      .def("combine", &combine, "ids"_a, "alpha"_a,
           "Return `quadratic`, and set the combined outputs to those of alpha.")
      .def("quadratic_of_rows", &quadratic_forms_of_rows, "ids"_a, "rows"_a, "alpha"_a,
           "Contribution to `quadratic` of the first rows, each with itself and all later ones.")
      .def("outputs", &outputs_of, "ids"_a, "alpha"_a, "kernels"_a)
      .def_prop_ro("has_single_passes", &Mixture::has_single_passes)
      .def("add_once", &add_once, "ids"_a, "delta"_a, "As `add`; no rows are cached.")
      .def("block_single", &block_single, "ids"_a, "As `block`, in single precision.")
      .def("add_single", &add_single, "ids"_a, "delta"_a, "As `add`, in single precision.")
      .def("add_single_at", &add_single_at, "ids"_a, "delta"_a, "columns"_a,
           "As `add_single`, for some examples; the combined outputs of the others stay.")
      .def("outputs_single", &outputs_single, "ids"_a, "alpha"_a, "columns"_a,
           "Outputs of all kernels for some examples, in single precision, (M, count).")
      .def("family", &family, "family"_a,
           "The kernels of one shared quantity, and their values at its nodes, (kernels, nodes).")
      .def("spread", &spread, "alpha"_a, "columns"_a,
           "alpha divided among the nodes of each shared quantity, (count, nodes) each.");
}

}  // namespace

void bind_engines(nb::module_& m) {
  bind_products(m);
  bind_dense(m);
  bind_stack(m);
  bind_class_pairs(m);
  bind_linear(m);
  bind_mixture(m);
}

}  // namespace kw

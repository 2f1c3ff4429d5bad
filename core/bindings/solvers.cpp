// Python functions of the solvers: the optimal alphas of a working set, and the optimal weights of
// a quadratic model.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "bindings/bindings.h"
#include "solvers/class_block.h"
#include "solvers/skm.h"
#include "solvers/subproblem.h"
#include "solvers/weight_models.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

void check_lengths(size_t q, std::initializer_list<const Vector*> parts, const char* message) {
  for (const Vector* part : parts) require(part->shape(0) == q, message);
}

nb::tuple pairs(Matrix kernel, Vector lin, Vector eps, Vector curv, Vector ent, Vector lo,
                Vector hi, double tolerance, int64_t max_steps, InOut<1> alpha, InOut<1> outputs) {
  const char* const message = "solve_pairs: the arrays differ in length";
  const size_t q = kernel.shape(0);
  require(kernel.shape(1) == q && alpha.shape(0) == q && outputs.shape(0) == q, message);
  check_lengths(q, {&lin, &eps, &curv, &ent, &lo, &hi}, message);
  const DualTerm term = {lin.data(), eps.data(), curv.data(), ent.data(), lo.data(), hi.data()};
  PairSteps result;
  without_lock([&] {
    result =
        solve_pairs(kernel.data(), term, tolerance, max_steps, {alpha.data(), q}, outputs.data());
  });
  return nb::make_tuple(result.steps, result.violation);
}

int64_t classes(Matrix kernel, Ids codes, Vector costs, bool intercept, double gap, int64_t most,
                InOut<2> alpha, InOut<2> outputs, InOut<1> bias) {
  const size_t q = kernel.shape(0), count = bias.shape(0);
  require(kernel.shape(1) == q && codes.shape(0) == q && costs.shape(0) == q &&
              alpha.shape(0) == count && alpha.shape(1) == q && outputs.shape(0) == count &&
              outputs.shape(1) == q,
          "solve_classes: the arrays differ in length");
  for (int64_t code : span_of(codes))
    require(code >= 0 && size_t(code) < count, "solve_classes: no such class");
  const ClassBlock block = {
      kernel.data(), span_of(codes), {costs.data(), q}, int64_t(count), intercept};
  int64_t passes = 0;
  without_lock([&] {
    passes = solve_classes(block, gap, most, {alpha.data(), count * q}, {outputs.data(), count * q},
                           {bias.data(), count});
  });
  return passes;
}

nb::tuple skm(In<double, 3> values, Ids ids, Vector cost, Vector lin, Vector eps, Vector curv,
              Vector ent, Vector lo, Vector hi, Vector kappa, double d, Vector shift,
              double tolerance, int64_t max_steps, InOut<1> alpha, InOut<2> outputs, InOut<1> s) {
  const char* const message = "solve_skm: the arrays differ in length";
  const size_t kernels = values.shape(0), q = values.shape(1);
  require(values.shape(2) == q && alpha.shape(0) == q && s.shape(0) == kernels &&
              outputs.shape(0) == kernels && outputs.shape(1) == q,
          message);
  check_lengths(kernels, {&cost, &kappa, &shift}, message);
  check_lengths(q, {&lin, &eps, &curv, &ent, &lo, &hi}, message);
  for (int64_t id : span_of(ids))
    require(id >= 0 && size_t(id) < kernels, "solve_skm: no such kernel");
  const DualTerm term = {lin.data(), eps.data(), curv.data(), ent.data(), lo.data(), hi.data()};
  const SkmKernels chosen = {values.data(), span_of(ids), cost.data()};
  const Smoothing smoothing = {kappa.data(), d, shift.data()};
  PairSteps result;
  without_lock([&] {
    result = solve_skm(chosen, term, smoothing, tolerance, max_steps, {alpha.data(), q},
                       outputs.data(), s.data());
  });
  return nb::make_tuple(result.steps, result.violation);
}

void check_square(const Matrix& matrix, std::initializer_list<const Vector*> parts,
                  const char* message) {
  require(matrix.shape(0) == matrix.shape(1), message);
  check_lengths(matrix.shape(0), parts, message);
}

std::optional<Out> response(Matrix hessian, Vector D, double slight) {
  check_square(hessian, {&D}, "rank_one_response: the arrays differ in length");
  const size_t M = hessian.shape(0);
  Out P = make_array({M, M});
  std::vector<char> moved(M);
  const bool found = rank_one_response(hessian.data(), span_of(D), slight, P.data(), moved.data());
  return found ? std::optional(P) : std::nullopt;
}

std::optional<std::tuple<double, Out, Out>> model(Matrix hessian, Vector s, Vector d,
                                                  double slight) {
  check_square(hessian, {&s, &d}, "rank_one_model: the arrays differ in length");
  const size_t M = hessian.shape(0);
  Out gradient = make_array({M}), bent = make_array({M, M});
  double value;
  const bool found = rank_one_model(hessian.data(), span_of(s), span_of(d), slight, &value,
                                    gradient.data(), bent.data());
  return found ? std::optional(std::tuple(value, gradient, bent)) : std::nullopt;
}

std::optional<Out> weights(Matrix P, double ridge, Vector gradient, Vector theta, Vector lower,
                           Vector costs, double total, double most, double part,
                           int64_t pairs_per_weight) {
  check_square(P, {&gradient, &theta, &lower, &costs}, "even_weights: the arrays differ in length");
  const size_t k = P.shape(0);
  require(k > 0, "even_weights: there are no weights");
  Out v = make_array({k});
  const WeightModel model = {
      P.data(), span_of(gradient), span_of(theta), span_of(lower), span_of(costs), ridge, total};
  bool found;
  without_lock([&] { found = even_weights(model, {most, part, pairs_per_weight}, v.data()); });
  return found ? std::optional(v) : std::nullopt;
}

}  // namespace

void bind_solvers(nb::module_& m) {
  m.def("solve_pairs", pairs, "kernel"_a, "lin"_a, "eps"_a, "curv"_a, "ent"_a, "lo"_a, "hi"_a,
        "tolerance"_a, "max_steps"_a, "alpha"_a, "outputs"_a);
  m.def("solve_classes", classes, "kernel"_a, "codes"_a, "costs"_a, "intercept"_a, "gap"_a,
        "most"_a, "alpha"_a, "outputs"_a, "bias"_a);
  m.def("solve_skm", skm, "kernels"_a, "ids"_a, "cost"_a, "lin"_a, "eps"_a, "curv"_a, "ent"_a,
        "lo"_a, "hi"_a, "kappa"_a, "d"_a, "shift"_a, "tolerance"_a, "max_steps"_a, "alpha"_a,
        "outputs"_a, "s"_a);
  m.def("rank_one_response", response, "hessian"_a, "D"_a, "slight"_a);
  m.def("rank_one_model", model, "hessian"_a, "s"_a, "d"_a, "slight"_a);
  m.def("even_weights", weights, "P"_a, "ridge"_a, "gradient"_a, "theta"_a, "lower"_a, "costs"_a,
        "total"_a, "most"_a, "part"_a, "pairs_per_weight"_a);
}

}  // namespace kw

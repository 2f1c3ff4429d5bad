// What solvers ask of the core: the best alphas of a working set, pair by pair.
#include "bindings/bindings.h"
#include "solvers/skm.h"
#include "solvers/subproblem.h"

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
    result = solve_pairs(kernel.data(), int64_t(q), term, tolerance, max_steps, alpha.data(),
                         outputs.data());
  });
  return nb::make_tuple(result.steps, result.violation);
}

nb::tuple skm(In<double, 3> values, Ids ids, Vector cost, Vector lin, Vector eps, Vector curv,
              Vector ent, Vector lo, Vector hi, double kappa, double d, Vector shift,
              double tolerance, int64_t max_steps, InOut<1> alpha, InOut<2> outputs, InOut<1> s) {
  const char* const message = "solve_skm: the arrays differ in length";
  const size_t kernels = values.shape(0), q = values.shape(1);
  require(values.shape(2) == q && alpha.shape(0) == q && s.shape(0) == kernels &&
              outputs.shape(0) == kernels && outputs.shape(1) == q,
          message);
  check_lengths(kernels, {&cost, &shift}, message);
  check_lengths(q, {&lin, &eps, &curv, &ent, &lo, &hi}, message);
  for (size_t c = 0; c < ids.shape(0); ++c)
    require(ids.data()[c] >= 0 && size_t(ids.data()[c]) < kernels, "solve_skm: no such kernel");
  const DualTerm term = {lin.data(), eps.data(), curv.data(), ent.data(), lo.data(), hi.data()};
  const SkmKernels chosen = {values.data(), ids.data(), int64_t(ids.shape(0)), cost.data()};
  const Smoothing smoothing = {kappa, d, shift.data()};
  PairSteps result;
  without_lock([&] {
    result = solve_skm(chosen, int64_t(q), term, smoothing, tolerance, max_steps, alpha.data(),
                       outputs.data(), s.data());
  });
  return nb::make_tuple(result.steps, result.violation);
}

}  // namespace

void bind_solvers(nb::module_& m) {
  m.def("solve_pairs", pairs, "kernel"_a, "lin"_a, "eps"_a, "curv"_a, "ent"_a, "lo"_a, "hi"_a,
        "tolerance"_a, "max_steps"_a, "alpha"_a, "outputs"_a);
  m.def("solve_skm", skm, "kernels"_a, "ids"_a, "cost"_a, "lin"_a, "eps"_a, "curv"_a, "ent"_a,
        "lo"_a, "hi"_a, "kappa"_a, "d"_a, "shift"_a, "tolerance"_a, "max_steps"_a, "alpha"_a,
        "outputs"_a, "s"_a);
}

}  // namespace kw

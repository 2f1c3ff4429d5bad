// What solvers with loops of their own ask of the core.
#include "bindings_solvers.h"

#include <nanobind/ndarray.h>

#include "skm.h"
#include "team.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

template <typename T, int Dimensions>
using In = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
template <int Dimensions>
using InOut = nb::ndarray<double, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
using Vector = In<double, 1>;

template <typename Work>
void without_lock(Work&& work) {
  try {
    nb::gil_scoped_release unlock;
    work();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

nb::tuple skm(In<double, 3> values, In<int64_t, 1> ids, Vector cost, Vector lin, Vector eps,
              Vector curv, Vector ent, Vector lo, Vector hi, double kappa, double d, Vector shift,
              double tolerance, int64_t max_steps, InOut<1> alpha, InOut<2> outputs, InOut<1> s) {
  const size_t kernels = values.shape(0), q = values.shape(1);
  bool fits = values.shape(2) == q && alpha.shape(0) == q && cost.shape(0) == kernels &&
              shift.shape(0) == kernels && s.shape(0) == kernels && outputs.shape(0) == kernels &&
              outputs.shape(1) == q;
  for (const Vector* part : {&lin, &eps, &curv, &ent, &lo, &hi}) fits &= part->shape(0) == q;
  require(fits, "solve_skm: the arrays differ in length");
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
  m.def("solve_skm", skm, "kernels"_a, "ids"_a, "cost"_a, "lin"_a, "eps"_a, "curv"_a, "ent"_a,
        "lo"_a, "hi"_a, "kappa"_a, "d"_a, "shift"_a, "tolerance"_a, "max_steps"_a, "alpha"_a,
        "outputs"_a, "s"_a);
}

}  // namespace kw

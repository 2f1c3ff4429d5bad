// The one file of the core that knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "bindings_solvers.h"
#include "bindings_strings.h"
#include "blas.h"
#include "decision.h"
#include "engine.h"
#include "evaluate.h"
#include "mixture.h"
#include "recycled.h"
#include "subproblem.h"
#include "team.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

template <typename T, typename Shape>
using In = nb::ndarray<const T, Shape, nb::c_contig, nb::device::cpu>;
using Vector = In<double, nb::ndim<1>>;
using Matrix = In<double, nb::ndim<2>>;
using Ids = In<int64_t, nb::ndim<1>>;
using Out = nb::ndarray<nb::numpy, double>;

template <typename T, typename Shape>
Array<T> borrow(const In<T, Shape>& array) {
  return {array.data(), std::make_shared<In<T, Shape>>(array)};
}

Out make_array(std::vector<size_t> shape) {
  size_t size = 1;
  for (size_t extent : shape) size *= extent;
  auto buffer = std::make_unique<Buffer<double>>(std::max<size_t>(size, 1));
  double* data = buffer->data();
  nb::capsule owner(buffer.get(), [](void* p) noexcept { delete static_cast<Buffer<double>*>(p); });
  buffer.release();
  return Out(data, shape.size(), shape.data(), owner);
}

// Signals can only be looked at with the lock of the interpreter held.
bool python_interrupt() {
  nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

// Runs work without the interpreter's lock; an interrupt surfaces as the exception that the signal
// handler raised.
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

void check_threads(int n_jobs) { require(n_jobs >= 1, "n_jobs must be at least 1"); }

void bind_program(nb::module_& m) {
  nb::class_<Program>(m, "Program",
                      "A list of kernels as a postfix program over shared quantities.")
      .def(nb::init<>())
      .def(
          "source", [](Program& p, const std::string& kind) { return p.source(kind); }, "kind"_a)
      .def(
          "source", [](Program& p, const Source& s) { return p.source(s.quantity); }, "source"_a)
      .def(
          "copy", [](Program& p, int32_t source) { p.push(Op::Copy, source); }, "source"_a)
      .def(
          "power",
          [](Program& p, int32_t source, double gamma, double coef0, int32_t degree) {
            p.push(Op::Power, source, gamma, coef0, degree);
          },
          "source"_a, "gamma"_a, "coef0"_a, "degree"_a)
      .def(
          "exp", [](Program& p, int32_t source, double gamma) { p.push(Op::Exp, source, gamma); },
          "source"_a, "gamma"_a)
      .def("mul", [](Program& p) { p.push(Op::Mul, 0); })
      .def("add", [](Program& p) { p.push(Op::Add, 0); })
      .def("square", [](Program& p) { p.push(Op::Square, 0); })
      .def("dup", [](Program& p) { p.push(Op::Dup, 0); })
      .def(
          "scale", [](Program& p, double factor) { p.push(Op::Scale, 0, factor); }, "factor"_a)
      .def(
          "unit", [](Program& p, int32_t slot) { p.push(Op::Unit, slot); }, "slot"_a)
      .def(
          "center", [](Program& p, int32_t slot, double total) { p.push(Op::Center, slot, total); },
          "slot"_a, "total"_a)
      .def("out", [](Program& p) { p.push(Op::Out, 0); })
      .def("end_group", &Program::end_group)
      .def_prop_ro("n_kernels", &Program::n_kernels);
}

void bind_side(nb::module_& m) {
  nb::class_<Side>(m, "Side", "Examples: one table per source, one vector per slot, in order.")
      .def("__init__",
           [](Side* side, int64_t n) {
             new (side) Side();
             side->n = n;
           })
      .def(
          "add_dense",
          [](Side& side, Matrix x) {
            require(int64_t(x.shape(0)) == side.n, "add_dense: wrong number of rows");
            side.tables.push_back(
                std::make_shared<DenseTable>(borrow(x), side.n, int64_t(x.shape(1))));
          },
          "x"_a)
      .def(
          "add_sparse",
          [](Side& side, Vector data, In<int32_t, nb::ndim<1>> indices, Ids indptr, int64_t d) {
            require(int64_t(indptr.shape(0)) == side.n + 1, "add_sparse: wrong number of rows");
            require(indptr.data()[0] == 0 && size_t(indptr.data()[side.n]) <= data.shape(0) &&
                        indices.shape(0) == data.shape(0),
                    "add_sparse: the arrays do not fit together");
            for (int64_t i = 0; i < side.n; ++i)
              require(indptr.data()[i] <= indptr.data()[i + 1], "add_sparse: indptr falls");
            for (size_t e = 0; e < indices.shape(0); ++e)
              require(indices.data()[e] >= 0 && indices.data()[e] < d,
                      "add_sparse: a column index is out of range");
            side.tables.push_back(std::make_shared<SparseTable>(borrow(data), borrow(indices),
                                                                borrow(indptr), side.n, d));
          },
          "data"_a, "indices"_a, "indptr"_a, "d"_a)
      .def(
          "add_given",
          [](Side& side, Matrix matrix, Ids ids) {
            require(matrix.shape(0) == 0 || int64_t(matrix.shape(0)) == side.n,
                    "add_given: wrong number of rows");
            require(ids.shape(0) == 0 || int64_t(ids.shape(0)) == side.n,
                    "add_given: wrong number of ids");
            std::vector<int64_t> rows(matrix.shape(0));
            for (size_t i = 0; i < rows.size(); ++i) rows[i] = int64_t(i);
            side.tables.push_back(std::make_shared<GivenTable>(
                borrow(matrix), int64_t(matrix.shape(1)), std::move(rows),
                std::vector<int64_t>(ids.data(), ids.data() + ids.shape(0))));
          },
          "matrix"_a, "ids"_a)
      .def(
          "add_vector",
          [](Side& side, Vector vector) {
            require(int64_t(vector.shape(0)) == side.n, "add_vector: wrong length");
            side.vectors.push_back(borrow(vector));
          },
          "vector"_a)
      .def("fingerprints",
           [](const Side& side) {
             auto* prints = new Fingerprint[side.n ? side.n : 1];
             nb::capsule owner(prints,
                               [](void* p) noexcept { delete[] static_cast<Fingerprint*>(p); });
             without_lock([&] {
               for (int64_t i = 0; i < side.n; ++i) prints[i] = side.fingerprint(i);
             });
             return nb::ndarray<nb::numpy, uint64_t, nb::ndim<2>>(prints, {size_t(side.n), 2},
                                                                  owner);
           })
      .def_ro("n", &Side::n);
}

std::vector<double> values(const Matrix& matrix) {
  return std::vector<double>(matrix.data(), matrix.data() + matrix.size());
}

std::unique_ptr<Decision> make_decision(const Program& program, const Side& a, Matrix coef,
                                        Matrix weights) {
  require(coef.shape(0) == weights.shape(0) && int64_t(coef.shape(1)) == a.n &&
              int64_t(weights.shape(1)) == program.n_kernels(),
          "decide: coef must be (outputs, n) and weights (outputs, M)");
  return std::make_unique<Decision>(std::make_shared<const Program>(program), a, values(coef),
                                    values(weights), int64_t(coef.shape(0)));
}

void bind_evaluate(nb::module_& m) {
  m.def(
      "evaluate",
      [](const Program& program, const Side& a, const Side& b, int n_jobs) {
        check_threads(n_jobs);
        Out out = make_array({size_t(program.n_kernels()), size_t(a.n), size_t(b.n)});
        without_lock([&] { evaluate(program, a, b, n_jobs, out.data()); });
        return out;
      },
      "program"_a, "a"_a, "b"_a, "n_jobs"_a = 1);
  m.def(
      "diagonal",
      [](const Program& program, const Side& a) {
        Out out = make_array({size_t(program.n_kernels()), size_t(a.n)});
        without_lock([&] { diagonal(program, a, out.data()); });
        return out;
      },
      "program"_a, "a"_a);
  m.def(
      "quadratic",
      [](const Program& program, const Side& a, Vector coef) {
        if (int64_t(coef.shape(0)) != a.n)
          throw std::invalid_argument("quadratic: coef must be (n,)");
        Out out = make_array({size_t(program.n_kernels())});
        without_lock([&] { quadratic(program, a, coef.data(), out.data()); });
        return out;
      },
      "program"_a, "a"_a, "coef"_a);
  m.def(
      "decide",
      [](const Program& program, const Side& a, const Side& b, Matrix coef, Matrix weights,
         int n_jobs) {
        check_threads(n_jobs);
        const auto decision = make_decision(program, a, coef, weights);
        Out out = make_array({coef.shape(0), size_t(b.n)});
        without_lock([&] { decision->decide(b, n_jobs, out.data()); });
        return out;
      },
      "program"_a, "a"_a, "b"_a, "coef"_a, "weights"_a, "n_jobs"_a = 1);
  nb::class_<Decision>(m, "Decision", "Decision functions of fixed examples and coefficients.")
      .def(nb::new_(&make_decision), "program"_a, "a"_a, "coef"_a, "weights"_a)
      .def(
          "decide",
          [](Decision& decision, const Side& b, int n_jobs) {
            check_threads(n_jobs);
            Out out = make_array({size_t(decision.outputs()), size_t(b.n)});
            without_lock([&] { decision.decide(b, n_jobs, out.data()); });
            return out;
          },
          "b"_a, "n_jobs"_a = 1);
}

void check_ids(int64_t n, const Ids& ids) {
  for (size_t r = 0; r < ids.shape(0); ++r)
    require(ids.data()[r] >= 0 && ids.data()[r] < n, "an example index is out of range");
}

void bind_engine(nb::module_& m) {
  nb::class_<Engine>(m, "Engine", "Examples, their kernels, and the outputs of the current alpha.")
      .def(
          "__init__",
          [](Engine* engine, const Program& program, const Side& side, int64_t cache_bytes,
             int n_jobs) {
            check_threads(n_jobs);
            new (engine) Engine(std::make_unique<SharedRows>(
                std::make_shared<const Program>(program), side, cache_bytes, n_jobs));
          },
          "program"_a, "side"_a, "cache_bytes"_a, "n_jobs"_a = 1)
      .def_prop_ro("n", &Engine::n)
      .def_prop_ro("n_kernels", &Engine::n_kernels)
      .def_prop_ro("cached_rows", &Engine::cached_rows)
      .def_prop_ro(
          "outputs",
          [](Engine& engine) {
            return nb::ndarray<nb::numpy, double, nb::ndim<2>>(
                engine.outputs(), {size_t(engine.n_kernels()), size_t(engine.n())},
                nb::find(engine));
          },
          nb::rv_policy::reference_internal)
      .def(
          "block",
          [](Engine& engine, Ids ids, Vector weights) {
            check_ids(engine.n(), ids);
            require(int64_t(weights.shape(0)) == engine.n_kernels(),
                    "block: one weight per kernel");
            Out out = make_array({ids.shape(0), ids.shape(0)});
            without_lock([&] {
              engine.block(ids.data(), int64_t(ids.shape(0)), weights.data(), out.data());
            });
            return out;
          },
          "ids"_a, "weights"_a)
      .def(
          "blocks",
          [](const Engine& engine, Ids ids) {
            check_ids(engine.n(), ids);
            Out out = make_array({size_t(engine.n_kernels()), ids.shape(0), ids.shape(0)});
            without_lock([&] { engine.blocks(ids.data(), int64_t(ids.shape(0)), out.data()); });
            return out;
          },
          "ids"_a)
      .def(
          "add",
          [](Engine& engine, Ids ids, Vector delta) {
            check_ids(engine.n(), ids);
            require(ids.shape(0) == delta.shape(0), "add: ids and delta differ in length");
            without_lock([&] { engine.add(ids.data(), int64_t(ids.shape(0)), delta.data()); });
          },
          "ids"_a, "delta"_a)
      .def("diagonal",
           [](const Engine& engine) {
             Out out = make_array({size_t(engine.n_kernels()), size_t(engine.n())});
             without_lock([&] { engine.diagonal(out.data()); });
             return out;
           })
      .def(
          "subset",
          [](Engine& engine, Ids ids) {
            check_ids(engine.n(), ids);
            std::unique_ptr<Engine> smaller;
            without_lock([&] { smaller = engine.subset(ids.data(), int64_t(ids.shape(0))); });
            return smaller;
          },
          "ids"_a);
}

void bind_mixture(nb::module_& m) {
  nb::class_<Mixture>(m, "Mixture", "Examples and the combined outputs of a family of kernels.")
      .def(
          "__init__",
          [](Mixture* mixture, const Program& program, const Side& side, int64_t cache_bytes,
             int n_jobs) {
            check_threads(n_jobs);
            require(Mixture::serves(program), "Mixture: not a family of functions of one quantity");
            new (mixture) Mixture(std::make_unique<SharedRows>(
                std::make_shared<const Program>(program), side, cache_bytes, n_jobs));
          },
          "program"_a, "side"_a, "cache_bytes"_a, "n_jobs"_a = 1)
      .def_static("serves", &Mixture::serves, "program"_a)
      .def_prop_ro("n", &Mixture::n)
      .def_prop_ro("n_kernels", &Mixture::n_kernels)
      .def_prop_ro("cached_rows", &Mixture::cached_rows)
      .def_prop_ro(
          "combined",
          [](Mixture& mixture) {
            return nb::ndarray<nb::numpy, double, nb::ndim<1>>(
                mixture.combined(), {size_t(mixture.n())}, nb::find(mixture));
          },
          nb::rv_policy::reference_internal)
      .def(
          "weigh",
          [](Mixture& mixture, Vector weights) {
            require(int64_t(weights.shape(0)) == mixture.n_kernels(),
                    "weigh: one weight per kernel");
            without_lock([&] { mixture.weigh(weights.data()); });
          },
          "weights"_a)
      .def(
          "add",
          [](Mixture& mixture, Ids ids, Vector delta) {
            check_ids(mixture.n(), ids);
            require(ids.shape(0) == delta.shape(0), "add: ids and delta differ in length");
            without_lock([&] { mixture.add(ids.data(), int64_t(ids.shape(0)), delta.data()); });
          },
          "ids"_a, "delta"_a)
      .def(
          "block",
          [](Mixture& mixture, Ids ids) {
            check_ids(mixture.n(), ids);
            Out out = make_array({ids.shape(0), ids.shape(0)});
            without_lock([&] { mixture.block(ids.data(), int64_t(ids.shape(0)), out.data()); });
            return out;
          },
          "ids"_a)
      .def(
          "blocks",
          [](const Mixture& mixture, Ids ids) {
            check_ids(mixture.n(), ids);
            Out out = make_array({size_t(mixture.n_kernels()), ids.shape(0), ids.shape(0)});
            without_lock([&] { mixture.blocks(ids.data(), int64_t(ids.shape(0)), out.data()); });
            return out;
          },
          "ids"_a)
      .def(
          "quadratic",
          [](Mixture& mixture, Ids ids, Vector alpha) {
            check_ids(mixture.n(), ids);
            require(ids.shape(0) == alpha.shape(0), "quadratic: ids and alpha differ in length");
            Out out = make_array({size_t(mixture.n_kernels())});
            without_lock([&] {
              mixture.quadratic(ids.data(), int64_t(ids.shape(0)), alpha.data(), out.data());
            });
            return out;
          },
          "ids"_a, "alpha"_a)
      .def(
          "outputs",
          [](const Mixture& mixture, Ids ids, Vector alpha, Ids columns, Ids kernels) {
            check_ids(mixture.n(), ids);
            check_ids(mixture.n(), columns);
            check_ids(mixture.n_kernels(), kernels);
            require(ids.shape(0) == alpha.shape(0), "outputs: ids and alpha differ in length");
            Out out = make_array({kernels.shape(0), columns.shape(0)});
            without_lock([&] {
              mixture.outputs(ids.data(), int64_t(ids.shape(0)), alpha.data(), columns.data(),
                              int64_t(columns.shape(0)), kernels.data(), int64_t(kernels.shape(0)),
                              out.data());
            });
            return out;
          },
          "ids"_a, "alpha"_a, "columns"_a, "kernels"_a)
      .def_prop_ro("n_families", [](const Mixture& mixture) { return mixture.profiles().size(); })
      .def(
          "family",
          [](const Mixture& mixture, size_t family) {
            require(family < mixture.profiles().size(), "family: no such family");
            const Profile& profile = mixture.profiles()[family];
            const std::vector<int64_t> kernels = profile.kernels();
            Out values = make_array({kernels.size(), size_t(profile.n_samples())});
            profile.sample(mixture.program(), values.data());
            return nb::make_tuple(nb::cast(kernels), values);
          },
          "family"_a,
          "The kernels of one shared quantity, and their values at samples of it, a row for each.")
      .def("diagonal",
           [](const Mixture& mixture) {
             Out out = make_array({size_t(mixture.n_kernels()), size_t(mixture.n())});
             without_lock([&] { mixture.diagonal(out.data()); });
             return out;
           })
      .def(
          "subset",
          [](Mixture& mixture, Ids ids) {
            check_ids(mixture.n(), ids);
            std::unique_ptr<Mixture> smaller;
            without_lock([&] { smaller = mixture.subset(ids.data(), int64_t(ids.shape(0))); });
            return smaller;
          },
          "ids"_a);
}

void bind_subproblem(nb::module_& m) {
  using InOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  m.def(
      "solve_pairs",
      [](Matrix kernel, Vector lin, Vector eps, Vector curv, Vector ent, Vector lo, Vector hi,
         double tolerance, int64_t max_steps, InOut alpha, InOut outputs) {
        const size_t q = kernel.shape(0);
        bool fits = kernel.shape(1) == q && alpha.shape(0) == q && outputs.shape(0) == q;
        for (const Vector* part : {&lin, &eps, &curv, &ent, &lo, &hi}) fits &= part->shape(0) == q;
        require(fits, "solve_pairs: the arrays differ in length");
        const DualTerm term = {lin.data(), eps.data(), curv.data(),
                               ent.data(), lo.data(),  hi.data()};
        PairSteps result;
        without_lock([&] {
          result = solve_pairs(kernel.data(), int64_t(q), term, tolerance, max_steps, alpha.data(),
                               outputs.data());
        });
        return nb::make_tuple(result.steps, result.violation);
      },
      "kernel"_a, "lin"_a, "eps"_a, "curv"_a, "ent"_a, "lo"_a, "hi"_a, "tolerance"_a, "max_steps"_a,
      "alpha"_a, "outputs"_a);
}

}  // namespace
}  // namespace kw

NB_MODULE(_core, m) {
  using namespace kw;
  m.doc() = "The compiled core of kernelweave.";
  set_interrupt_hook(python_interrupt);
  m.def(
      "use_blas", [](nb::capsule dgemm) { set_dgemm(reinterpret_cast<Dgemm>(dgemm.data())); },
      "dgemm"_a);
  m.def("use_simd", [](const std::string& level) { use_simd(level.c_str()); }, "level"_a);
  m.def("simd_level", [] { return std::string(simd().name); });
  m.def("simd_levels", [] {
    std::vector<std::string> names;
    for (const char* const* name = simd_levels(); *name; ++name) names.emplace_back(*name);
    return names;
  });
  bind_program(m);
  bind_side(m);
  bind_evaluate(m);
  bind_engine(m);
  bind_mixture(m);
  bind_subproblem(m);
  bind_solvers(m);
  bind_strings(m);
}

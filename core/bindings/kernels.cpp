// Python classes of programs and examples, and functions that evaluate kernels.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings/bindings.h"
#include "bindings/strings.h"
#include "engine/decision.h"
#include "engine/evaluate.h"
#include "kernels/identity.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

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
          "multiply", [](Program& p, int32_t slot, double) { p.push(Op::Unit, slot); }, "slot"_a,
          "most"_a, "Multiply by a number of each example, at most `most` in absolute value.")
      .def(
          "center", [](Program& p, int32_t slot, double total) { p.push(Op::Center, slot, total); },
          "slot"_a, "total"_a)
      .def(
          "absent", [](Program& p, int32_t slot, double total) { p.push(Op::Absent, slot, total); },
          "slot"_a, "total"_a)
      .def(
          "exponential", [](Program& p, double gamma) { p.push(Op::Exponential, 0, gamma); },
          "gamma"_a, "exp(gamma * (k - 1)) of a value k.")
      .def("out", [](Program& p) { p.push(Op::Out, 0); })
      .def("end_group", &Program::end_group)
      .def_prop_ro("n_kernels", &Program::n_kernels);
}

void bind_side(nb::module_& m) {
  nb::class_<Side>(m, "Side", "Examples: one table per source, one vector per slot, in order.")
      .def("__init__",
           [](Side* side, int64_t n) {
             require(n >= 0, "Side: the number of examples must be at least 0");
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
          [](Side& side, Vector data, In<int32_t, 1> indices, Ids indptr, int64_t d) {
            require(int64_t(indptr.shape(0)) == side.n + 1, "add_sparse: wrong number of rows");
            require(d >= 0, "add_sparse: d must be at least 0");
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
          "add_ids",
          [](Side& side, Ids ids) {
            require(int64_t(ids.shape(0)) == side.n, "add_ids: wrong number of ids");
            side.tables.push_back(std::make_shared<IdTable>(
                std::vector<int64_t>(ids.data(), ids.data() + ids.shape(0))));
          },
          "ids"_a)
      .def(
          "add_given",
          [](Side& side, Matrix matrix, Ids rows, Ids ids) {
            require(rows.shape(0) == 0 || int64_t(rows.shape(0)) == side.n,
                    "add_given: wrong number of rows");
            require(ids.shape(0) == 0 || int64_t(ids.shape(0)) == side.n,
                    "add_given: wrong number of ids");
            for (size_t i = 0; i < rows.shape(0); ++i)
              require(rows(i) >= 0 && rows(i) < int64_t(matrix.shape(0)), "add_given: no such row");
            side.tables.push_back(std::make_shared<GivenTable>(
                borrow(matrix), side.n, int64_t(matrix.shape(1)),
                std::vector<int64_t>(rows.data(), rows.data() + rows.shape(0)),
                std::vector<int64_t>(ids.data(), ids.data() + ids.shape(0))));
          },
          "matrix"_a, "rows"_a, "ids"_a)
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
        return computed({size_t(program.n_kernels()), size_t(a.n), size_t(b.n)},
                        [&](double* out) { evaluate(program, a, b, n_jobs, out); });
      },
      "program"_a, "a"_a, "b"_a, "n_jobs"_a = 1);
  m.def(
      "diagonal",
      [](const Program& program, const Side& a) {
        return computed({size_t(program.n_kernels()), size_t(a.n)},
                        [&](double* out) { diagonal(program, a, out); });
      },
      "program"_a, "a"_a);
  m.def(
      "quadratic",
      [](const Program& program, const Side& a, Vector coef) {
        if (int64_t(coef.shape(0)) != a.n)
          throw std::invalid_argument("quadratic: coef must be (n,)");
        return computed({size_t(program.n_kernels())},
                        [&](double* out) { quadratic(program, a, coef.data(), out); });
      },
      "program"_a, "a"_a, "coef"_a);
  m.def(
      "decide",
      [](const Program& program, const Side& a, const Side& b, Matrix coef, Matrix weights,
         int n_jobs) {
        check_threads(n_jobs);
        const auto decision = make_decision(program, a, coef, weights);
        return computed({coef.shape(0), size_t(b.n)},
                        [&](double* out) { decision->decide(b, n_jobs, out); });
      },
      "program"_a, "a"_a, "b"_a, "coef"_a, "weights"_a, "n_jobs"_a = 1);
  m.def(
      "sum_each",
      [](const Program& program, const Side& a, const Side& b, Matrix coef, int n_jobs) {
        check_threads(n_jobs);
        require(int64_t(coef.shape(1)) == a.n, "sum_each: coef must be (outputs, n)");
        const size_t outputs = coef.shape(0);
        return computed({outputs, size_t(program.n_kernels()), size_t(b.n)}, [&](double* out) {
          sum_each(program, a, b, coef.data(), int64_t(outputs), n_jobs, out);
        });
      },
      "program"_a, "a"_a, "b"_a, "coef"_a, "n_jobs"_a = 1);
  nb::class_<Decision>(m, "Decision", "Decision functions of fixed examples and coefficients.")
      .def(nb::new_(&make_decision), "program"_a, "a"_a, "coef"_a, "weights"_a)
      .def(
          "decide",
          [](Decision& decision, const Side& b, int n_jobs) {
            check_threads(n_jobs);
            return computed({size_t(decision.outputs()), size_t(b.n)},
                            [&](double* out) { decision.decide(b, n_jobs, out); });
          },
          "b"_a, "n_jobs"_a = 1);
}

}  // namespace

void bind_kernels(nb::module_& m) {
  bind_program(m);
  bind_side(m);
  bind_evaluate(m);
}

}  // namespace kw

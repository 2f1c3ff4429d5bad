// The Python module kernelweave._core.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/bindings.h"
#include "bindings/strings.h"
#include "simd/simd.h"
#include "system/blas.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

// Checks for Python signals, which requires the global interpreter lock.
bool python_interrupt() {
  WithLock lock;
  return PyErr_CheckSignals() != 0;
}

}  // namespace
}  // namespace kw

NB_MODULE(_core, m) {
  using namespace kw;
  m.doc() = "The compiled core of kernelweave.";
#if !defined(KW_LEAK_WARNINGS)
  // Objects that belong to a thread are not freed if a fork or the end of the process leaves the
  // thread behind. These are no leaks. Builds with sanitizers keep the warnings.
  nb::set_leak_warnings(false);
#endif
  set_interrupt_hook(python_interrupt);
  m.def(
      "use_blas", [](nb::capsule dgemm) { set_dgemm(reinterpret_cast<Dgemm>(dgemm.data())); },
      "dgemm"_a);
  m.def(
      "use_lapack", [](nb::capsule dgesv) { set_dgesv(reinterpret_cast<Dgesv>(dgesv.data())); },
      "dgesv"_a);
  m.def("use_simd", [](const std::string& level) { use_simd(level.c_str()); }, "level"_a);
  m.def("simd_level", [] { return std::string(simd().name); });
  m.def("simd_levels", [] {
    std::vector<std::string> names;
    for (const Simd* level : simd_levels()) names.emplace_back(level->name);
    return names;
  });
  bind_kernels(m);
  bind_engines(m);
  bind_solvers(m);
  bind_strings(m);
  bind_explain(m);
}

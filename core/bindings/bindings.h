// What the files share that know Python: arrays, checks, and the names of each other.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "bindings/lock.h"
#include "kernels/examples.h"
#include "system/team.h"

namespace kw {

template <typename T, int Dimensions>
using In = nanobind::ndarray<const T, nanobind::ndim<Dimensions>, nanobind::c_contig,
                             nanobind::device::cpu>;
template <int Dimensions>
using InOut = nanobind::ndarray<double, nanobind::ndim<Dimensions>, nanobind::c_contig,
                                nanobind::device::cpu>;
using Vector = In<double, 1>;
using Matrix = In<double, 2>;
using Ids = In<int64_t, 1>;
using Out = nanobind::ndarray<nanobind::numpy, double>;

// The values of an array of Python, which lives as long as they are used.
template <typename T, typename... Rest>
Array<T> borrow(const nanobind::ndarray<const T, Rest...>& array) {
  return {array.data(), std::make_shared<nanobind::ndarray<const T, Rest...>>(array)};
}

// An array for a result, its values not set.
Out make_array(std::vector<size_t> shape);

// Runs work; an interrupt surfaces as the exception that the signal handler raised.
template <typename Work>
void interruptible(Work&& work) {
  try {
    work();
  } catch (const Interrupted&) {
    throw nanobind::python_error();
  }
}

// The same without the interpreter's lock.
template <typename Work>
void without_lock(Work&& work) {
  interruptible([&] {
    WithoutLock unlock;
    work();
  });
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline void check_threads(int n_jobs) { require(n_jobs >= 1, "n_jobs must be at least 1"); }

inline void check_ids(int64_t n, const Ids& ids) {
  for (size_t r = 0; r < ids.shape(0); ++r)
    require(ids.data()[r] >= 0 && ids.data()[r] < n, "an example index is out of range");
}

void bind_kernels(nanobind::module_& m);
void bind_engines(nanobind::module_& m);
void bind_solvers(nanobind::module_& m);
void bind_explain(nanobind::module_& m);

}  // namespace kw

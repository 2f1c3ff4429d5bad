// Helpers of the bindings: NumPy arrays, checks of arguments, and declarations.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <concepts>
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

// The values of a Python array as a span. The array must outlive it.
template <typename T, typename... Rest>
Array<T> borrow(const nanobind::ndarray<const T, Rest...>& array) {
  return {array.data(), std::make_shared<nanobind::ndarray<const T, Rest...>>(array)};
}

inline IdSpan span_of(const Ids& ids) { return {ids.data(), ids.shape(0)}; }
inline std::span<const double> span_of(const Vector& values) {
  return {values.data(), values.shape(0)};
}

// Returns an uninitialised array for a result.
Out make_array(std::vector<size_t> shape);

// Runs work. If it is interrupted, raises the exception of the Python signal handler.
template <std::invocable Work>
void interruptible(Work&& work) {
  try {
    work();
  } catch (const Interrupted&) {
    throw nanobind::python_error();
  }
}

// The same without holding the global interpreter lock.
template <std::invocable Work>
void without_lock(Work&& work) {
  interruptible([&] {
    WithoutLock unlock;
    work();
  });
}

// Returns an array that compute(out) fills, without holding the lock.
template <std::invocable<double*> Compute>
Out computed(std::vector<size_t> shape, Compute&& compute) {
  Out out = make_array(std::move(shape));
  without_lock([&] { compute(out.data()); });
  return out;
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline void check_threads(int n_jobs) { require(n_jobs >= 1, "n_jobs must be at least 1"); }

inline void check_ids(int64_t n, const Ids& ids) {
  for (int64_t id : span_of(ids)) require(id >= 0 && id < n, "an example index is out of range");
}

void bind_kernels(nanobind::module_& m);
void bind_engines(nanobind::module_& m);
void bind_solvers(nanobind::module_& m);
void bind_explain(nanobind::module_& m);

}  // namespace kw

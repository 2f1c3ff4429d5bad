#include "kernels/products.h"

#include <algorithm>

namespace kw {

Products::Products(std::vector<Part> parts, int64_t n, int64_t kernels, int threads)
    : parts_(std::move(parts)), n_(n), kernels_(kernels), threads_(threads) {}

std::vector<double> Products::scaled(const Part& part, const double* v) const {
  std::vector<double> values(part.unit);
  simd().mul(v, values.data(), n_);
  return values;
}

void Products::weigh(const double* weights) {
  for (Part& part : parts_) {
    std::vector<double> planes(part.counts.size(), 0.0);
    for (const LinearTerm& term : part.bundle.terms)
      planes[term.plane] += term.factor * weights[term.kernel];
    std::transform(planes.begin(), planes.end(), part.counts.begin(),
                   [](double w) { return w != 0.0; });
    if (part.any()) part.product->weigh(planes.data(), threads_);
  }
}

void Products::multiply(const double* v, double* out) const {
  std::fill_n(out, n_, 0.0);
  for (const Part& part : parts_) {
    if (!part.any()) continue;
    std::vector<double> values(n_, 0.0);
    part.product->add(scaled(part, v).data(), threads_, values.data());
    simd().mul(part.unit.data(), values.data(), n_);
    simd().axpy(1.0, values.data(), out, n_);
  }
}

void Products::quadratic(const double* v, double* out) const {
  std::fill_n(out, kernels_, 0.0);
  for (const Part& part : parts_) {
    std::vector<double> planes(part.counts.size(), 0.0);
    part.product->quadratic(scaled(part, v).data(), threads_, planes.data());
    for (const LinearTerm& term : part.bundle.terms)
      out[term.kernel] += term.factor * planes[term.plane];
  }
}

void Products::outputs(const double* v, IdSpan ids, bool weighed, double* out) const {
  const int64_t count = int64_t(ids.size());
  std::fill_n(out, kernels_ * count, 0.0);
  for (const Part& part : parts_) {
    const std::vector<bool> wanted =
        weighed ? part.counts : std::vector<bool>(part.counts.size(), true);
    if (weighed && !part.any()) continue;
    std::vector<double> planes(wanted.size() * count, 0.0);
    part.product->outputs(scaled(part, v).data(), ids, wanted, threads_, planes.data());
    for (const LinearTerm& term : part.bundle.terms)
      for (int64_t r = 0; r < count; ++r)
        out[term.kernel * count + r] +=
            term.factor * part.unit[ids[r]] * planes[term.plane * count + r];
  }
}

}  // namespace kw

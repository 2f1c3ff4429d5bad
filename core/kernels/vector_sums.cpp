#include "kernels/vector_sums.h"

#include "simd/simd.h"

namespace kw {
namespace {

// Number of columns below which function calls cost more than the arithmetic.
constexpr int64_t kNarrow = 8;

class VectorSums : public Sums {
 public:
  explicit VectorSums(int64_t d) : w(d, 0.0) {}

  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t) const override {
    if (const auto* sparse = dynamic_cast<const SparseTable*>(&b))
      return lookup_sparse(*sparse, j0, j1, out);
    const auto& dense = dynamic_cast<const DenseTable&>(b);
    const double* x = dense.x.data + j0 * dense.d;
    if (dense.d >= kNarrow) {
      for (int64_t j = 0; j < j1 - j0; ++j)
        out[j] += simd().dot(w.data(), x + j * dense.d, dense.d);
      return;
    }
    for (int64_t k = 0; k < dense.d; ++k)
      for (int64_t j = 0; j < j1 - j0; ++j) out[j] += w[k] * x[j * dense.d + k];
  }

  std::vector<double> w;

 private:
  void lookup_sparse(const SparseTable& b, int64_t j0, int64_t j1, double* out) const {
    for (int64_t j = j0; j < j1; ++j) {
      double sum = 0.0;
      for (int64_t e = b.indptr[j]; e < b.indptr[j + 1]; ++e) sum += b.data[e] * w[b.indices[e]];
      out[j - j0] += sum;
    }
  }
};

void add_sparse(const SparseTable& a, IdSpan rows, std::span<const double> factors,
                std::vector<double>& w) {
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t e = a.indptr[rows[r]]; e < a.indptr[rows[r] + 1]; ++e)
      w[a.indices[e]] += factors[r] * a.data[e];
}

void add_dense(const DenseTable& a, IdSpan rows, std::span<const double> factors,
               std::vector<double>& w) {
  if (a.d >= kNarrow) {
    for (size_t r = 0; r < rows.size(); ++r)
      simd().axpy(factors[r], a.x.data + rows[r] * a.d, w.data(), a.d);
    return;
  }
  for (int64_t k = 0; k < a.d; ++k) {
    double sum = 0.0;
    for (size_t r = 0; r < rows.size(); ++r) sum += factors[r] * a.x.data[rows[r] * a.d + k];
    w[k] = sum;
  }
}

}  // namespace

std::unique_ptr<Sums> sum_vectors(const VectorTable& a, IdSpan rows,
                                  std::span<const double> factors) {
  auto sums = std::make_unique<VectorSums>(a.d);
  if (const auto* sparse = dynamic_cast<const SparseTable*>(&a))
    add_sparse(*sparse, rows, factors, sums->w);
  else
    add_dense(dynamic_cast<const DenseTable&>(a), rows, factors, sums->w);
  return sums;
}

}  // namespace kw

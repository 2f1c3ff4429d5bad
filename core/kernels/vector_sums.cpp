#include "kernels/vector_sums.h"

#include "simd/simd.h"

namespace kw {
namespace {

class VectorSums : public Sums {
 public:
  explicit VectorSums(int64_t d) : w(d, 0.0) {}

  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t) const override {
    if (const auto* sparse = dynamic_cast<const SparseTable*>(&b))
      return lookup_sparse(*sparse, j0, j1, out);
    const auto& dense = dynamic_cast<const DenseTable&>(b);
    for (int64_t j = j0; j < j1; ++j)
      out[j - j0] += simd().dot(w.data(), dense.x.data + j * dense.d, dense.d);
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

void add_row(const VectorTable& a, int64_t i, double factor, std::vector<double>& w) {
  if (const auto* sparse = dynamic_cast<const SparseTable*>(&a)) {
    for (int64_t e = sparse->indptr[i]; e < sparse->indptr[i + 1]; ++e)
      w[sparse->indices[e]] += factor * sparse->data[e];
    return;
  }
  simd().axpy(factor, dynamic_cast<const DenseTable&>(a).x.data + i * a.d, w.data(), a.d);
}

}  // namespace

std::unique_ptr<Sums> sum_vectors(const VectorTable& a, const int64_t* rows, const double* factors,
                                  int64_t count) {
  auto sums = std::make_unique<VectorSums>(a.d);
  for (int64_t r = 0; r < count; ++r) add_row(a, rows[r], factors[r], sums->w);
  return sums;
}

}  // namespace kw

// The spectrum kernel (Leslie, Eskin and Noble, 2002): k(x, y) = sum_u #u(x) #u(y) over all k-mers
// u. Counts are not cached: k-mers are read from the packed sequences when needed.
#pragma once
#include "kernels/quantity.h"
#include "stores/kmer_store.h"

namespace kw {

class SpectrumKernel : public Quantity {
 public:
  SpectrumKernel(const KmerRule& rule, StoreKind store, double scale = 1.0)
      : rule(rule), store(store), scale_(scale) {}

  void check(const Table& a, const Table& b) const override;
  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& b) const override;
  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override;
  void diagonal(const Table& a, double* out) const override;
  int64_t row_bytes(const Table& a) const override;
  double reads(const Table&) const override { return 0.0; }
  std::shared_ptr<const Quantity> combined(const double* planes) const override;
  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override;

  const KmerRule rule;
  const StoreKind store;

 private:
  bool worth_a_store(const Table& a, int64_t count, int64_t columns) const;

  const double scale_;
};

}  // namespace kw

// Kernels that count common substrings of any length at any position,
//
//   k(x, y) = sum_u w(|u|) #u(x) #u(y).
//
// With a single length it is the spectrum kernel for k-mers that do not fit into 64 bits.
#pragma once
#include "kernels/quantity.h"
#include "stores/kmer_store.h"
#include "strings/substring_weights.h"

namespace kw {

class SubstringKernel : public Quantity {
 public:
  SubstringKernel(int letters, std::shared_ptr<const LengthWeights> lengths, StoreKind store,
                  double scale = 1.0)
      : letters(letters), lengths(std::move(lengths)), store(store), scale_(scale) {}

  void check(const Table& a, const Table& b) const override;
  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& b) const override;
  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override;
  void diagonal(const Table& a, double* out) const override;
  int64_t row_bytes(const Table& a) const override;
  double reads(const Table& a) const override;
  std::shared_ptr<const Quantity> combined(const double* planes) const override;
  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override;

  const int letters;
  const std::shared_ptr<const LengthWeights> lengths;
  const StoreKind store;  // kRows, kSuffix or kAuto

 private:
  bool worth_a_store(const Table& a, int64_t count, int64_t columns) const;

  const double scale_;
};

}  // namespace kw

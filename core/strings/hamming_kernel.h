// Kernels that compare all words of two sequences by their number of mismatches,
//
//   k_p(x, y) = sum over words u of x and v of y of h_p(mismatches of u and v).
//
// Examples are gapped k-mers (Ghandi et al., 2014), mismatch kernels (Leslie et al., 2004) and
// k-mers that must be equal. Members p of a family differ only in the function h_p.
#pragma once
#include "kernels/quantity.h"
#include "stores/kmer_store.h"
#include "strings/column_pairs.h"

namespace kw {

struct HammingParameters {
  HammingRule rule;
  // For each member l + 1 numbers: the values h by number of mismatches, and the eigenvalues of the
  // operator on tables of words (word_operator.h).
  std::vector<double> values, spectra;
  // kRows: compare pairs of sequences only; kTable: use tables only.
  StoreKind store = StoreKind::kAuto;

  int64_t length() const { return rule.kmers.k; }
  int64_t members() const { return int64_t(values.size()) / (length() + 1); }
  // Numbers of mismatches with a nonzero h for some member: 0, 1, ..., classes - 1.
  int64_t classes() const;
};

class HammingKernel : public Quantity {
 public:
  explicit HammingKernel(HammingParameters parameters)
      : parameters(std::move(parameters)), classes_(this->parameters.classes()) {}

  int64_t planes() const override { return parameters.members(); }
  void check(const Table& a, const Table& b) const override;
  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override;
  void diagonal(const Table& a, double* out) const override;
  int64_t row_bytes(const Table& a) const override;
  double reads(const Table& a) const override;
  std::shared_ptr<const Quantity> combined(const double* planes) const override;
  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override;
  int64_t most_normalisations() const override { return 32; }
  ProductCosts product_costs(const Table& a) const override;
  std::unique_ptr<Product> product(const Table& a, int64_t room, int threads) const override;

  const HammingParameters parameters;

 private:
  double value(const std::vector<double>& found, int64_t plane) const;
  bool has_table() const;

  const int64_t classes_;
};

// Maximum number of entries of a table: 2 GB.
constexpr uint64_t kMostWords = uint64_t{1} << 28;

}  // namespace kw

// Kernels that compare all words of two sequences by their number of mismatches,
//
//   k_p(x, y) = sum over words u of x and v of y of h_p(mismatches of u and v).
//
// Gapped k-mers (Ghandi et al., 2014) and mismatch kernels (Leslie et al., 2004) are of this kind,
// and so are k-mers that have to be equal. Members of a family differ in h and share all else.
#pragma once
#include "kernels/quantity.h"
#include "stores/kmer_store.h"
#include "strings/column_pairs.h"

namespace kw {

struct HammingParameters {
  HammingRule rule;
  // By member and number of mismatches, l + 1 numbers each: the values h, and the eigenvalues of
  // the operator on tables of words (word_operator.h).
  std::vector<double> values, spectra;
  StoreKind store = StoreKind::kAuto;  // kRows: pairs of sequences only; kTable: tables only

  int64_t length() const { return rule.kmers.k; }
  int64_t members() const { return int64_t(values.size()) / (length() + 1); }
  // Numbers of mismatches that count for some member: 0, 1, ..., classes - 1.
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

// Places of a table at most: 2 gigabytes.
constexpr uint64_t kMostWords = uint64_t{1} << 28;

}  // namespace kw

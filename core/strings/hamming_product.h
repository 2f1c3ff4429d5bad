// The matrix of kernels that count mismatches, as what it makes of vectors: the words of all
// sequences go into one table, the operator of the kernel is applied to it, and every sequence sums
// up the numbers of its words. Where there are no more than a few words for each place of the table
// they are cached in its order; otherwise they are read from the sequences each time.
#pragma once
#include "stores/hamming_store.h"
#include "strings/hamming_kernel.h"
#include "strings/sequence_table.h"
#include "strings/word_rows.h"

namespace kw {

class HammingProduct : public Product {
 public:
  // keeps: whether there will be so many products that an order of words pays.
  HammingProduct(const HammingParameters& parameters, const SequenceTable& table, bool keeps);

  // Cost of a product.
  static int64_t bytes(const HammingParameters& parameters, const SequenceView& view);

  void weigh(const double* planes, int threads) override;
  void add(const double* v, int threads, double* out) const override;
  void quadratic(const double* v, int threads, double* out) const override;
  void outputs(const double* v, IdSpan ids, const std::vector<bool>& wanted, int threads,
               double* out) const override;

 private:
  // The words of all sequences, times v.
  Buffer<double> words(const double* v, int threads) const;
  // out[p * n + i] += what spectrum p makes of v for sequence i; by rows.
  void multiply(std::span<const double> spectra, const double* v, int threads, double* out) const;
  // Contribution of a few members to `outputs`, by rows or from the table of `words`.
  void outputs_by_rows(const double* v, IdSpan ids, const std::vector<int64_t>& members,
                       int threads, double* out) const;
  void outputs_by_words(Buffer<double> all, IdSpan ids, const std::vector<int64_t>& members,
                        int threads, double* out) const;
  std::vector<double> spectra(const std::vector<int64_t>& members) const;

  const HammingParameters parameters_;
  const std::shared_ptr<const void> owner_;
  const SequenceView view_;
  const WordOperator operator_;
  const int64_t letters_;
  std::unique_ptr<const WordRows> rows_;  // null if they are not cached
  std::vector<double> spectrum_;          // eigenvalues of the weighted sum of the members
};

}  // namespace kw

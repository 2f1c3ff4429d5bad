// Matrix-vector products K v of kernels that count mismatches: the words of all sequences,
// multiplied by v, are added up in one table; the operator of the kernel is applied to it; then
// every sequence sums up the entries of its words. If there are few words for each entry of the
// table, the words are cached in the order of the table; otherwise they are read from the sequences
// in every product.
#pragma once
#include "stores/hamming_store.h"
#include "strings/sequence_table.h"
#include "strings/word_rows.h"

namespace kw {

class HammingProduct : public Product {
 public:
  // keeps: whether there will be enough products to cache the sorted words.
  HammingProduct(const HammingParameters& parameters, const SequenceTable& table, bool keeps);

  // Bytes that products keep.
  static int64_t bytes(const HammingParameters& parameters, const SequenceView& view);

  void weigh(const double* planes, int threads) override;
  void add(const double* v, int threads, double* out) const override;
  void quadratic(const double* v, int threads, double* out) const override;
  void outputs(const double* v, IdSpan ids, const std::vector<bool>& wanted, int threads,
               double* out) const override;

 private:
  // The table of the words of all sequences, multiplied by v.
  Buffer<double> words(const double* v, int threads) const;
  // out[p * n + i] += (A_p t) summed over the words of sequence i, for each spectrum p; row by row.
  void multiply(std::span<const double> spectra, const double* v, int threads, double* out) const;
  // Add the outputs of a few members, by rows or from the table `words`.
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
  std::unique_ptr<const WordRows> rows_;  // null if words are not cached
  std::vector<double> spectrum_;          // eigenvalues of the weighted sum of the members
};

}  // namespace kw

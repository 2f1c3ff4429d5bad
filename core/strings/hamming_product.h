// The matrix of kernels that count mismatches, as what it makes of vectors: the words of all
// sequences go into one table, the operator of the kernel is applied to it, and every sequence sums
// up the numbers of its words. Nothing but the table is kept.
#pragma once
#include "stores/hamming_store.h"
#include "strings/hamming_kernel.h"
#include "strings/sequence_table.h"

namespace kw {

class HammingProduct : public Product {
 public:
  HammingProduct(const HammingParameters& parameters, const SequenceTable& table);

  // What a product takes at most.
  static int64_t bytes(const HammingParameters& parameters, const SequenceView& view);

  // The weights of the members in the matrix that `add` multiplies with; 1 for all at first.
  void weigh(const double* planes, int threads);
  void add(const double* v, int threads, double* out) const override;
  void quadratic(const double* v, int threads, double* out) const;

 private:
  // The words of all sequences, times v.
  Buffer<double> words(const double* v, int threads) const;

  const HammingParameters parameters_;
  const std::shared_ptr<const void> owner_;
  const SequenceView view_;
  const WordOperator operator_;
  const int64_t letters_;
  std::vector<double> spectrum_;  // of the weighted sum of the members
};

}  // namespace kw

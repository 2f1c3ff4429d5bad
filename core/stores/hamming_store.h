// The weight store of kernels that count mismatches: a table with one entry for every possible
// word.
//
// `add` sums up the words that occur. Before the first look-up the operator of the kernel
// (word_operator.h) is applied to this table, which gives every word the contributions of all
// similar words, in time proportional to the word length times the size of the table. A look-up
// then reads one entry for each word of a sequence.
#pragma once
#include <functional>

#include "strings/hamming_parameters.h"
#include "strings/word_operator.h"
#include "system/recycled.h"

namespace kw {

// Calls visit(word, weight) for the words of sequence i.
void visit_words(const SequenceView& view, const HammingRule& rule, int64_t i,
                 const std::function<void(uint64_t, double)>& visit);
// Adds factors[r] times the words of sequence rows[r] (or r, if `rows` is empty) to a table, for r
// in [begin, end). With `partners` the words of the other strand are added, too.
void add_words(const SequenceView& view, const HammingRule& rule, IdSpan rows,
               const double* factors, int64_t begin, int64_t end, bool partners, double* table);
// The weighted sum of the table entries of the words of sequence i.
double sum_words(const SequenceView& view, const HammingRule& rule, int64_t i, const double* table);
// table[u] += table[reverse complement of u], for all words at once.
void add_partners(const KmerRule& rule, int threads, double* table);

class HammingStore : public Store {
 public:
  explicit HammingStore(const HammingParameters& parameters);

  const char* kind() const override { return "table"; }
  void clear() override;
  void add(const Table& a, IdSpan rows, std::span<const double> delta) override;
  void merge(const Store& other) override;
  void prepare(int threads) override;
  // Computes the weights. Nothing can be added afterwards, and half of the memory is freed.
  void close(int threads);
  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t stride) const override;
  void items(const VisitWord& visit) const override;
  int64_t bytes() const override;

 private:
  std::vector<Buffer<double>> weights_of(Buffer<double>& words, int threads) const;

  const HammingParameters parameters_;
  const WordOperator operator_;
  Buffer<double> words_;  // sums of the words added
  // Weights of all words for each member; empty until computed.
  std::vector<Buffer<double>> weights_;
};

}  // namespace kw

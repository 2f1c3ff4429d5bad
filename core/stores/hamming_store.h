// Weights of words for kernels that count mismatches: one place for every word there can be.
//
// `add` sums the words themselves. Before the first look-up the operator of the
// kernel maps the sums to the weight of every word, including similar words; a look-up is then one
// read for every word of a sequence.
#pragma once
#include <functional>

#include "stores/store.h"
#include "strings/word_operator.h"
#include "strings/word_pairs.h"
#include "system/recycled.h"

namespace kw {

struct HammingParameters;

// visit(word, how much it counts) for the words of sequence i.
void visit_words(const SequenceView& view, const HammingRule& rule, int64_t i,
                 const std::function<void(uint64_t, double)>& visit);
// Adds factors[r] times the words of sequences rows[r] (or r, if there are no rows) to a table, for
// r in [begin, end), and those of the other strand if `partners`.
void add_words(const SequenceView& view, const HammingRule& rule, IdSpan rows,
               const double* factors, int64_t begin, int64_t end, bool partners, double* table);
// The sum of the numbers of the words of a sequence.
double sum_words(const SequenceView& view, const HammingRule& rule, int64_t i, const double* table);
// table[u] += table[partner of u], for all words at once.
void add_partners(const KmerRule& rule, int threads, double* table);

class HammingStore : public Store {
 public:
  explicit HammingStore(const HammingParameters& parameters);
  ~HammingStore() override;

  void clear() override;
  void add(const Table& a, IdSpan rows, std::span<const double> delta) override;
  void merge(const Store& other) override;
  void prepare(int threads) override;
  // Computes the weights of a store to which no more is added: it takes half of the memory.
  void close(int threads);
  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t stride) const override;
  void items(const VisitWord& visit) const override;
  int64_t bytes() const override;

 private:
  std::vector<Buffer<double>> weights_of(Buffer<double>& words, int threads) const;

  const std::unique_ptr<const HammingParameters> parameters_;
  const WordOperator operator_;
  Buffer<double> words_;                 // sums of added words
  std::vector<Buffer<double>> weights_;  // of every word, for each member; empty: to be computed
};

}  // namespace kw

// The words of all sequences in the order of a table of words. A row of the table (word_operator.h)
// is filled and read while it is in the nearest cache, where words in the order of their sequences
// would wait for memory one by one.
#pragma once
#include <concepts>

#include "strings/word_pairs.h"
#include "system/recycled.h"

namespace kw {

class WordRows {
 public:
  WordRows(const SequenceView& view, const HammingRule& rule, int64_t rows, int64_t width);

  // Upper bound of the memory of the words of so many letters.
  static int64_t bytes(const HammingRule& rule, int64_t letters);

  // Sets a row to the words of all sequences, of both strands where the rule says so, times v.
  void fill(int64_t row, const double* v, double* numbers) const;
  // out[i] += the sum of the numbers of the words of sequence i, of the strand that was read.
  void read(int64_t row, const double* numbers, double* out) const;

 private:
  struct Place {
    uint32_t sequence, column;
  };

  // visit(place, weight) for words [first, last).
  template <std::invocable<const Place&, double> Visit>
  void each(int64_t first, int64_t last, Visit&& visit) const;

  const int64_t width_;
  // Words of row r: those that were read begin at first_[2 r], their partners at first_[2 r + 1].
  std::vector<int64_t> first_;
  Buffer<Place> places_;
  Buffer<double> weights_;  // how much a word counts; empty: all count 1
};

}  // namespace kw

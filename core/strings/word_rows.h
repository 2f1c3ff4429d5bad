// The words of all sequences, sorted by their index in a table of words. A row of the table
// (word_operator.h) can then be filled and read while it is in the first-level cache. In the order
// of sequences every access would miss the cache.
#pragma once
#include <concepts>

#include "strings/word_pairs.h"
#include "system/recycled.h"

namespace kw {

class WordRows {
 public:
  WordRows(const SequenceView& view, const HammingRule& rule, int64_t rows, int64_t width);

  // Upper bound of the bytes for the words of `letters` letters.
  static int64_t bytes(const HammingRule& rule, int64_t letters);

  // Sets a row to the sum of the words of all sequences times v, on both strands if the rule says
  // so.
  void fill(int64_t row, const double* v, double* numbers) const;
  // out[i] += the sum of the entries of the words of sequence i on its given strand.
  void read(int64_t row, const double* numbers, double* out) const;

 private:
  struct Place {
    uint32_t sequence, column;
  };

  // Calls visit(place, weight) for words [first, last).
  template <std::invocable<const Place&, double> Visit>
  void each(int64_t first, int64_t last, Visit&& visit) const;

  const int64_t width_;
  // The words of row r begin at first_[2 r], their reverse complements at first_[2 r + 1].
  std::vector<int64_t> first_;
  Buffer<Place> places_;
  Buffer<double> weights_;  // weight of each word; empty: all are 1
};

}  // namespace kw

// Numbers of mismatches between the words of many pairs of sequences, one pair for each bit of a
// vector. Several times faster than comparing one pair of sequences after another (word_pairs.h),
// but also quadratic in the number of letters.
#pragma once
#include <functional>
#include <vector>

#include "simd/column_pairs.h"
#include "strings/word_pairs.h"
#include "system/recycled.h"

namespace kw {

// Sequences side by side: bit s of each vector belongs to sequence s.
class Columns {
 public:
  explicit Columns(const HammingRule& rule) : rule_(rule) {}

  // At most as many sequences as a vector has bits; a sequence may occur more than once.
  void fill(const SequenceView& view, IdSpan sequences);
  // Number of positions at which words of the longest sequence may begin.
  int64_t places() const { return places_; }
  ColumnStrand strand() const;

 private:
  uint64_t* row(int64_t k);

  const HammingRule& rule_;
  int64_t places_ = 0, stride_ = 0;
  // The vectors of each plane, of known letters, and of beginnings of words.
  Buffer<uint64_t> vectors_;
};

// Pair i consists of sequence rows[i] and sequence columns[i].
struct SequencePairs {
  std::vector<int64_t> rows, columns;
};

class ColumnPairs {
 public:
  ColumnPairs(const HammingRule& rule, int64_t classes);

  // Number of pairs of sequences that are compared at a time.
  int64_t width() const;

  // Called as visit(i, found) with the numbers that WordPairs finds for pair i. If there are few
  // pairs, or their lengths differ much, pairs are compared one by one.
  using Visit = std::function<void(int64_t, const std::vector<double>&)>;
  // Compares sequences of a with sequences of b: at most `width` pairs.
  void count(const SequenceView& a, const SequenceView& b, const SequencePairs& pairs,
             const Visit& visit);
  // Calls visit(i, found), with the result of WordPairs::count_own, for each of the sequences i, in
  // any order.
  void count_own(const SequenceView& view, std::vector<int64_t> sequences, const Visit& visit);

 private:
  // True if blocks are faster for `pairs` pairs of sequences of `letters` letters. Words must have
  // equal weights, and letters must be complemented by flipping bits. Shorter sequences count as
  // fractions of a pair.
  bool pays(double pairs, int64_t letters) const;
  void count_block(const SequenceView& a, const SequenceView& b, const SequencePairs& pairs,
                   const Visit& visit);
  void count_alone(const SequenceView& a, const SequenceView& b, const SequencePairs& pairs,
                   const Visit& visit);
  void count_own_block(const SequenceView& view, IdSpan sequences, const Visit& visit);
  void start(const Columns& x, const Columns& y, int64_t first_digit);
  void compare(const ColumnDiagonal& diagonal);
  // Calls visit(i, found) for the first `count` pairs.
  void read(int64_t count, const Visit& visit);

  const HammingRule& rule_;
  const int flipped_;
  Columns x_, y_;
  ColumnTask task_ = {};
  std::vector<double> found_;
  Buffer<uint64_t> counters_, numbers_;
};

}  // namespace kw

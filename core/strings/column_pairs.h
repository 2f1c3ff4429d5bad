// Words of many pairs of sequences, counted by their mismatches, for as many pairs at a time as a
// vector has bits. It is several times faster than one pair after another (word_pairs.h).
#pragma once
#include <functional>
#include <vector>

#include "simd/column_pairs.h"
#include "strings/word_pairs.h"
#include "system/recycled.h"

namespace kw {

// Sequences side by side, a bit of each vector.
class Columns {
 public:
  explicit Columns(const HammingRule& rule) : rule_(rule) {}

  // At most as many as a vector has bits; some may be the same.
  void fill(const SequenceView& view, IdSpan sequences);
  // Positions at which words of the longest sequence may begin.
  int64_t places() const { return places_; }
  ColumnStrand strand() const;

 private:
  uint64_t* row(int64_t k);

  const HammingRule& rule_;
  int64_t places_ = 0, stride_ = 0;
  Buffer<uint64_t> vectors_;  // by plane, for known letters, and for words
};

// The i-th pair: sequence rows[i] with sequence columns[i].
struct SequencePairs {
  std::vector<int64_t> rows, columns;
};

class ColumnPairs {
 public:
  ColumnPairs(const HammingRule& rule, int64_t classes);

  // Pairs of sequences that are compared at a time.
  int64_t width() const;

  // visit(i, what WordPairs finds for the i-th pair). Few pairs, and those of very different
  // lengths, are compared one by one.
  using Visit = std::function<void(int64_t, const std::vector<double>&)>;
  // Sequences of a with sequences of b: at most `width` pairs.
  void count(const SequenceView& a, const SequenceView& b, const SequencePairs& pairs,
             const Visit& visit);
  // visit(i, what WordPairs::count_own finds) for each of the sequences i, in any order.
  void count_own(const SequenceView& view, std::vector<int64_t> sequences, const Visit& visit);

 private:
  // True if it pays for so many pairs of sequences of so many letters: all words weigh the same,
  // and bits identify partners. Shorter ones count as parts of a pair.
  bool pays(double pairs, int64_t letters) const;
  void count_block(const SequenceView& a, const SequenceView& b, const SequencePairs& pairs,
                   const Visit& visit);
  void count_alone(const SequenceView& a, const SequenceView& b, const SequencePairs& pairs,
                   const Visit& visit);
  void count_own_block(const SequenceView& view, IdSpan sequences, const Visit& visit);
  void start(const Columns& x, const Columns& y, int64_t first_digit);
  void compare(const ColumnDiagonal& diagonal);
  // visit(i, found) for each of so many pairs.
  void read(int64_t count, const Visit& visit);

  const HammingRule& rule_;
  const int flipped_;
  Columns x_, y_;
  ColumnTask task_ = {};
  std::vector<double> found_;
  Buffer<uint64_t> counters_, numbers_;
};

}  // namespace kw

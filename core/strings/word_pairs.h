// Numbers of mismatches between all words of one sequence and all words of another one, 64 pairs at
// a time. The time is proportional to the product of the numbers of words.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "simd/pairs.h"
#include "strings/kmers.h"

namespace kw {

// Which words are compared, and their weights.
struct HammingRule {
  KmerRule kmers;  // without folding
  bool both_strands = false;
  // Weight of the word in the middle of the sequence; 0: all words have weight 1 (Lee, 2016).
  double peak = 0.0;
  double half_life = 1.0;  // distance from the middle at which the weight is half of it

  bool operator==(const HammingRule&) const = default;
  // The weight of word i of `count` words.
  double weight(int64_t i, int64_t count) const;
  // Number of bits of a letter.
  int planes() const;
};

// One strand of a sequence, prepared for comparisons.
class Strand {
 public:
  Strand(std::vector<uint8_t> codes, const HammingRule& rule);

  // The reverse complement of the strand.
  Strand reverse(const HammingRule& rule) const;
  // Numbers of positions at which a word could begin, and of words without unknown letters.
  int64_t places() const { return places_; }
  int64_t words() const { return words_; }
  PairStrand pairs() const;
  // The weight of the word that begins at letter i.
  double weight(int64_t i) const { return weight_.empty() ? 1.0 : weight_[i]; }
  bool weighted() const { return !weight_.empty(); }

 private:
  std::vector<uint8_t> codes_;
  std::unique_ptr<uint64_t[]> offsets_;  // shifted copies of each plane, and of the bits of words
  std::vector<double> weight_;
  int planes_;
  int64_t places_, words_ = 0, stride_;
};

// The strands of a sequence.
struct Strands {
  Strands(const SequenceView& view, int64_t i, const HammingRule& rule);
  Strands(std::vector<uint8_t> codes, const HammingRule& rule);

  std::vector<Strand> strands;  // the given one, and with both_strands its reverse complement
};

// Counts pairs of words by their number of mismatches, or adds up the products of their weights.
class WordPairs {
 public:
  WordPairs(const HammingRule& rule, int64_t classes)
      : rule_(rule), pairs_(classes), found_(classes) {}

  // Words of x with words of all strands of y.
  const std::vector<double>& count(const Strands& x, const Strands& y);
  // The same for x with itself: most pairs are compared once.
  const std::vector<double>& count_own(const Strands& x);
  // The same for each of n windows of a text, which are shifted by one letter each. All letters
  // must be known, and all weights equal. Called as visit(window, result of count_own).
  using Visit = std::function<void(int64_t, const std::vector<double>&)>;
  void count_windows(const Strands& text, int64_t n, const Visit& visit);

 private:
  // Which words of y are compared with a word of x: all, later ones on the same strand, or those of
  // the other strand up to its reverse complement.
  enum class Part { kAll, kBehind, kToPartner };

  PairTask task(const Strand& x, const Strand& y) const;
  void cut(const Strand& x, const Strand& y, Part part);
  void compare(const Strand& x, const Strand& y, Part part);
  void compare_weighted(const Strand& x, const Strand& y);
  void leave_out_partners(const Strand& x, const Strand& y);
  // Calls visit(pair) for the counted pairs of a range.
  template <std::invocable<const PairFound&> VisitPair>
  void list(PairTask task, const PairRange& range, VisitPair&& visit);

  const HammingRule& rule_;
  std::vector<uint64_t> pairs_;
  std::vector<double> found_;
  std::vector<PairRange> ranges_;
  std::vector<PairFound> listed_;
  std::vector<double> changes_;  // by window and mismatches: difference from the window before
  // Bit i of number s is set if s + 2 i, the sum of two positions, is at most that of a word and
  // its own reverse complement.
  std::vector<uint64_t> to_partner_;
  int64_t places_ = -1;  // the value of places() for which to_partner_ was computed
};

}  // namespace kw

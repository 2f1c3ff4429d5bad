// All words of one sequence against all words of another one, counted by their mismatches.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "simd/pairs.h"
#include "strings/kmers.h"

namespace kw {

// Which words are compared, and how much they count.
struct HammingRule {
  KmerRule kmers;  // without folding
  bool both_strands = false;
  double peak = 0.0;       // words in the middle count so many times as much as those far from it;
                           // 0: all count 1
  double half_life = 1.0;  // words so far from the middle count half (Lee, 2016)

  bool operator==(const HammingRule&) const = default;
  // How much word i of `count` counts.
  double weight(int64_t i, int64_t count) const;
  // Bits of a letter.
  int planes() const;
};

// One strand of a sequence, made to be compared.
class Strand {
 public:
  Strand(std::vector<uint8_t> codes, const HammingRule& rule);

  // The letters from the other end, each its partner.
  Strand reverse(const HammingRule& rule) const;
  // Places at which a word could begin, and words without unknown letters.
  int64_t places() const { return places_; }
  int64_t words() const { return words_; }
  PairStrand pairs() const;
  // Properties of the word that begins at letter i.
  double weight(int64_t i) const { return weight_.empty() ? 1.0 : weight_[i]; }
  bool weighted() const { return !weight_.empty(); }

 private:
  std::vector<uint8_t> codes_;
  std::unique_ptr<uint64_t[]> offsets_;  // offsets of each plane, and of the words
  std::vector<double> weight_;
  int planes_;
  int64_t places_, words_ = 0, stride_;
};

// One sequence as its strands.
struct Strands {
  Strands(const SequenceView& view, int64_t i, const HammingRule& rule);
  Strands(std::vector<uint8_t> codes, const HammingRule& rule);

  std::vector<Strand> strands;  // the one that was read, and, of both, the other one
};

// How many pairs of words have 0, 1, ... mismatches, or what they count together.
class WordPairs {
 public:
  WordPairs(const HammingRule& rule, int64_t classes)
      : rule_(rule), pairs_(classes), found_(classes) {}

  // Words of x with words of both strands of y.
  const std::vector<double>& count(const Strands& x, const Strands& y);
  // The same for x and itself: most pairs are met once.
  const std::vector<double>& count_own(const Strands& x);
  // The same for each of n windows of a text, each a letter behind the one before; all letters are
  // known, and all words weigh the same. visit(window, what count_own returns).
  using Visit = std::function<void(int64_t, const std::vector<double>&)>;
  void count_windows(const Strands& text, int64_t n, const Visit& visit);

 private:
  // Which words of y are compared with a word of x: all, those behind it on the same strand, or
  // those of the other strand up to its partner.
  enum class Part { kAll, kBehind, kToPartner };

  PairTask task(const Strand& x, const Strand& y) const;
  void cut(const Strand& x, const Strand& y, Part part);
  void compare(const Strand& x, const Strand& y, Part part);
  void compare_weighted(const Strand& x, const Strand& y);
  void leave_out_partners(const Strand& x, const Strand& y);
  // visit(pair) for the pairs that count of a range.
  template <std::invocable<const PairFound&> VisitPair>
  void list(PairTask task, const PairRange& range, VisitPair&& visit);

  const HammingRule& rule_;
  std::vector<uint64_t> pairs_;
  std::vector<double> found_;
  std::vector<PairRange> ranges_;
  std::vector<PairFound> listed_;
  std::vector<double> changes_;  // by window and mismatches: what it has more than the one before
  std::vector<uint64_t> to_partner_;  // pairs up to a word's partner, by the sum of their places
  int64_t places_ = -1;               // for sequences of so many places
};

}  // namespace kw

// All words of one sequence against all words of another one, counted by their mismatches.
#pragma once
#include <cstdint>
#include <vector>

#include "strings/kmers.h"

namespace kw {

// Which words are compared, and how much they count.
struct WordRule {
  KmerRule kmers;  // without folding
  bool both_strands = false;
  double peak = 0.0;       // words in the middle count so many times as much as those far from it;
                           // 0: all count 1
  double half_life = 1.0;  // words so far from the middle count half (Lee, 2016)

  bool operator==(const WordRule&) const = default;
  // How much word i of `count` counts.
  double weight(int64_t i, int64_t count) const;
};

// The letters of one strand, with room around them.
class Strand {
 public:
  Strand(std::vector<uint8_t> codes, const WordRule& rule);

  // The letters from the other end, each its partner.
  Strand reverse(const WordRule& rule) const;
  int64_t length() const { return int64_t(codes_.size()); }
  int64_t words() const { return words_; }
  const std::vector<uint8_t>& codes() const { return codes_; }
  // Letter j; kRoom + l letters before the first and kRoom after the last one match nothing.
  const uint8_t* letters() const { return padded_.data() + front_; }
  // 128 where no word ends, also kRoom letters before the first and after the last one.
  const uint8_t* no_word() const { return no_word_.data() + kRoom; }
  // Of the word that ends at j.
  double weight(int64_t j) const { return weight_.empty() ? 1.0 : weight_[j]; }
  bool weighted() const { return !weight_.empty(); }
  static constexpr int64_t kRoom = 64;

 private:
  std::vector<uint8_t> codes_, padded_, no_word_;
  std::vector<double> weight_;
  int64_t front_, words_ = 0;
};

// One sequence as its strands.
struct Strands {
  Strands(const SequenceView& view, int64_t i, const WordRule& rule);

  std::vector<Strand> strands;  // the one that was read, and, of both, the other one
};

// How many pairs of words have 0, 1, ... mismatches, or what they count together.
class WordPairs {
 public:
  WordPairs(const WordRule& rule, int64_t classes)
      : rule_(rule), pairs_(classes), found_(classes) {}

  // Words of x with words of both strands of y.
  const std::vector<double>& count(const Strands& x, const Strands& y);
  // The same for x and itself: most pairs are met once.
  const std::vector<double>& count_own(const Strands& x);

 private:
  void compare_from(const Strand& x, const Strand& y, int64_t first_diagonal);
  void compare_half(const Strand& x, const Strand& y, bool same);
  void compare_weighted(const Strand& x, const Strand& y);

  const WordRule& rule_;
  std::vector<uint64_t> pairs_;
  std::vector<double> found_;
  std::vector<uint8_t> beyond_, later_;  // where pairs do not count: nowhere, or after a sum
  int64_t later_from_ = -1;
};

}  // namespace kw

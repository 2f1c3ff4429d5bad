// An index of the substrings of texts, in which matches of a new text are found in time linear in
// its length.
//
// The index is a suffix array whose suffixes are cut after `longest` letters and at the end of
// their text; equal ones are one entry. The number of letters that neighbours share (LCP) is
// stored. The longest match that starts at each letter of a new text (matching statistics; Chang
// and Lawler, 1994) follows from the previous one: the entry of the suffix without its first letter
// replaces the suffix link, and a search among siblings needs nearest smaller LCP values.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "strings/sequences.h"

namespace kw {

constexpr int64_t kLongestSubstring = 65534;  // largest LCP that can be represented

// Appends a sequence to the texts of an index. Letters are 1, 2, ...; 0 ends a text, at unknown
// letters and at the end.
void append_text(const SequenceView& view, int64_t i, std::vector<uint8_t>& texts);

// Minima of ranges of an array, in a tree with 32 children per node.
class SmallestValues {
 public:
  SmallestValues() = default;
  explicit SmallestValues(std::vector<uint16_t> values);

  int32_t size() const { return int32_t(levels_[0].size()); }
  int32_t operator[](int32_t i) const { return levels_[0][size_t(i)]; }
  // The first index >= `from` whose value is at most `bound`; `size()` if there is none.
  int32_t next(int32_t from, int32_t bound) const;
  // The last index <= `from` whose value is at most `bound`, which must exist.
  int32_t previous(int32_t from, int32_t bound) const;
  int64_t bytes() const;

 private:
  static constexpr int32_t kWidth = 32;

  std::vector<std::vector<uint16_t>> levels_;
};

class SuffixIndex {
 public:
  // texts: made by `append_text`; longest: from 1 to kLongestSubstring.
  SuffixIndex(std::vector<uint8_t> texts, int64_t longest);

  int32_t size() const { return int32_t(start_.size()); }
  int32_t longest() const { return longest_; }
  const std::vector<uint8_t>& texts() const { return texts_; }
  std::vector<uint8_t> take_texts() && { return std::move(texts_); }
  int64_t bytes() const;
  // The entry of the suffix that starts at a position of the texts.
  int32_t entry_at(int64_t position) const { return entry_at_[size_t(position)]; }
  // The letters of an entry, ended by 0 or after `longest` letters.
  const uint8_t* letters(int32_t entry) const { return texts_.data() + start_[size_t(entry)]; }
  // LCP: the number of letters that an entry shares with the one before.
  int32_t shared(int32_t entry) const { return shared_[entry]; }
  // The range of entries [first, last) that share the first `length` (>= 1) letters with an entry.
  std::pair<int32_t, int32_t> alike(int32_t entry, int32_t length) const {
    return {shared_.previous(entry, length - 1), shared_.next(entry + 1, length - 1)};
  }

  // Calls visit(entry, length) for every letter of new texts at which a match begins. `length` is
  // that of the longest match, and `entry` begins with it.
  template <class Visit>
  void match(std::span<const uint8_t> texts, Visit&& visit) const {
    if (size() == 0) return;
    int32_t entry = 0, length = 0;
    for (size_t at = 0; at < texts.size(); ++at) {
      if (texts[at] == 0) continue;  // the match has come to its end, too
      extend(texts.data() + at, entry, length);
      if (length == 0) continue;
      visit(entry, length);
      remove_first_letter(entry, length);
    }
  }

  // Calls visit(entry) for every letter of new texts at which a match of `longest` letters begins.
  //
  // The last few letters of a possible match are looked up first. If they are in no indexed text,
  // then no match contains them, and all beginnings up to them are skipped (as in Boyer and Moore,
  // 1977).
  template <class Visit>
  void match_longest(std::span<const uint8_t> texts, Visit&& visit) const {
    if (size() == 0) return;
    int32_t entry = 0, length = 0;
    for (size_t at = 0, probed = 0; at + size_t(longest_) <= texts.size(); ++at) {
      if (length < probe_ && at >= probed) {
        probed = at + size_t(longest_ - probe_) + 1;
        if (!contains(texts.data() + probed - 1, probe_)) {
          at = probed - 1;
          length = 0;
          continue;
        }
      }
      extend(texts.data() + at, entry, length);
      if (length == longest_) visit(entry);
      if (length > 0) remove_first_letter(entry, length);
    }
  }

 private:
  void merge_equal(std::vector<uint16_t> shared);
  void choose_probe();
  bool contains(const uint8_t* text, int32_t length) const;
  void extend(const uint8_t* text, int32_t& entry, int32_t& length) const;
  void remove_first_letter(int32_t& entry, int32_t& length) const {
    entry = entry_at_[size_t(start_[size_t(entry)]) + 1];
    --length;
  }
  bool find_sibling(uint8_t letter, int32_t length, int32_t& entry) const;

  std::vector<uint8_t> texts_;
  int32_t longest_;
  int32_t probe_ = 1;              // letters that are looked up first by `match_longest`
  std::vector<int32_t> start_;     // of each entry, in the texts
  std::vector<int32_t> entry_at_;  // of each letter of the texts
  SmallestValues shared_;
};

}  // namespace kw

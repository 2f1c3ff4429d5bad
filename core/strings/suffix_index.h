// The substrings of some texts, found in time linear in what is read.
//
// The index is a suffix array whose suffixes are cut after `longest` letters and at the end of
// their text; equal ones are one entry. Neighbours know how many letters they share (LCP). The
// longest match from each letter of a new text on (its matching statistics; Chang and Lawler, 1994)
// follows from the one before: the entry of the suffix without its first letter plays the part of
// the suffix link, and siblings are found by nearest smaller values of LCP.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "strings/sequences.h"

namespace kw {

constexpr int64_t kLongestSubstring = 65534;  // letters that neighbours can be said to share

// Appends a sequence as texts of an index: letters are 1, 2, ..., and 0 ends a text, at unknown
// letters and at the end.
void append_text(const SequenceView& view, int64_t i, std::vector<uint8_t>& texts);

// The smallest values of ranges of an array, in a tree with 32 children each.
class SmallestValues {
 public:
  SmallestValues() = default;
  explicit SmallestValues(std::vector<uint16_t> values);

  int32_t size() const { return int32_t(levels_[0].size()); }
  int32_t operator[](int32_t i) const { return levels_[0][size_t(i)]; }
  // The first place from `from` on whose value is at most `bound`; `size()` if there is none.
  int32_t next(int32_t from, int32_t bound) const;
  // The last such place up to `from`, which must exist.
  int32_t previous(int32_t from, int32_t bound) const;
  int64_t bytes() const;

 private:
  static constexpr int32_t kWidth = 32;

  std::vector<std::vector<uint16_t>> levels_;
};

class SuffixIndex {
 public:
  // texts: as `append_text` makes them; longest: from 1 to kLongestSubstring.
  SuffixIndex(std::vector<uint8_t> texts, int64_t longest);

  int32_t size() const { return int32_t(start_.size()); }
  int32_t longest() const { return longest_; }
  const std::vector<uint8_t>& texts() const { return texts_; }
  std::vector<uint8_t> take_texts() && { return std::move(texts_); }
  int64_t bytes() const;
  // The entry of the suffix that starts at a letter of the texts.
  int32_t entry_at(int64_t position) const { return entry_at_[size_t(position)]; }
  // The letters of an entry, which 0 or `longest` ends.
  const uint8_t* letters(int32_t entry) const { return texts_.data() + start_[size_t(entry)]; }
  // LCP: how many letters an entry shares with the one before.
  int32_t shared(int32_t entry) const { return shared_[entry]; }
  // Entries [first, last) that share so many letters (at least one) with an entry.
  std::pair<int32_t, int32_t> alike(int32_t entry, int32_t length) const {
    return {shared_.previous(entry, length - 1), shared_.next(entry + 1, length - 1)};
  }

  // visit(entry, length) for every letter of new texts from which a match begins: the longest one,
  // of `length` letters, and an entry that begins with it.
  template <class Visit>
  void match(std::span<const uint8_t> texts, Visit&& visit) const {
    if (size() == 0) return;
    int32_t entry = 0, length = 0;
    for (size_t at = 0; at < texts.size(); ++at) {
      if (texts[at] == 0) continue;  // the match has come to its end, too
      extend(texts.data() + at, entry, length);
      if (length == 0) continue;
      visit(entry, length);
      entry = entry_at_[size_t(start_[size_t(entry)]) + 1];
      --length;
    }
  }

 private:
  void merge_equal(std::vector<uint16_t> shared);
  void extend(const uint8_t* text, int32_t& entry, int32_t& length) const;
  bool find_sibling(uint8_t letter, int32_t length, int32_t& entry) const;

  std::vector<uint8_t> texts_;
  int32_t longest_;
  std::vector<int32_t> start_;     // of each entry, in the texts
  std::vector<int32_t> entry_at_;  // of each letter of the texts
  SmallestValues shared_;
};

}  // namespace kw

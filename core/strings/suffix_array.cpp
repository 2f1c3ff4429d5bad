#include "strings/suffix_array.h"

#include <algorithm>
#include <stdexcept>

#include "system/team.h"

namespace kw {
namespace {

constexpr int32_t kEmpty = -1;
constexpr int32_t kBetweenLooks = 1 << 20;   // suffixes between two checks for interrupts
constexpr int64_t kBytes = int64_t{1} << 8;  // number of values of a letter

// Suffix i has type S if it precedes suffix i + 1, otherwise type L; the last one has type L. It is
// leftmost S ("LMS") if suffix i - 1 has type L. In the bucket of a first letter, L precedes S.
template <class Letter>
class InducedSorting {
 public:
  InducedSorting(std::span<const Letter> text, int64_t letters, std::span<int32_t> sa)
      : text_(text.data()), n_(int32_t(text.size())), sa_(sa.data()), starts_(size_t(letters) + 1) {
    for (Letter letter : text) ++starts_[size_t(letter) + 1];
    for (size_t c = 1; c < starts_.size(); ++c) starts_[c] += starts_[c - 1];
  }

  void run() {
    const std::vector<bool> leftmost = find_leftmost();
    if (count_ == 0) return induce_from({});
    sort_substrings(leftmost);
    const int32_t names = name_substrings(leftmost);
    sort_leftmost(names);
    // The starts of the LMS suffixes, in text order, overwrite the reduced text.
    int32_t* starts = sa_ + n_ - count_;
    for (int32_t i = 0, at = 0; i < n_; ++i)
      if (leftmost[i]) starts[at++] = i;
    for (int32_t i = 0; i < count_; ++i) sa_[i] = starts[sa_[i]];
    induce_from({sa_, size_t(count_)});
  }

 private:
  std::vector<bool> find_leftmost() {
    std::vector<bool> leftmost(n_);
    bool smaller = false;  // whether suffix i + 1 has type S
    for (int32_t i = n_ - 2; i >= 0; --i) {
      const bool now = text_[i] < text_[i + 1] || (text_[i] == text_[i + 1] && smaller);
      if (smaller && !now) {
        leftmost[i + 1] = true;
        ++count_;
      }
      smaller = now;
    }
    return leftmost;
  }

  // Sorts the LMS substrings, each of which extends from an LMS start to the next one.
  void sort_substrings(const std::vector<bool>& leftmost) {
    std::fill_n(sa_, n_, kEmpty);
    std::vector<int32_t> end(starts_.begin() + 1, starts_.end());
    for (int32_t i = 0; i < n_; ++i)
      if (leftmost[i]) sa_[--end[size_t(text_[i])]] = i;
    induce();
    int32_t found = 0;
    for (int32_t i = 0; i < n_; ++i)
      if (leftmost[sa_[i]]) sa_[found++] = sa_[i];
  }

  // Names LMS substrings by their rank; equal ones have the same name. The reduced text of these
  // names is written to the end of the array. LMS starts are at least two apart, so that start i
  // has slot i / 2.
  int32_t name_substrings(const std::vector<bool>& leftmost) {
    int32_t* places = sa_ + count_;
    const int32_t room = n_ - count_;
    std::fill_n(places, room, kEmpty);
    for (int32_t i = n_ - 1, next = n_ - 1; i >= 0; --i)
      if (leftmost[i]) {
        places[i / 2] = next - i + 1;  // letters, including both ends
        next = i;
      }
    int32_t names = 0, before = kEmpty, size_before = 0;
    for (int32_t k = 0; k < count_; ++k) {
      const int32_t start = sa_[k], size = places[start / 2];
      // Only the last substring reaches the end of the text, and it equals no other.
      const bool same = size == size_before && start + size < n_ && before + size < n_ &&
                        std::equal(text_ + start, text_ + start + size, text_ + before);
      names += !same;
      before = start;
      size_before = size;
      places[start / 2] = names - 1;
    }
    int32_t* reduced = sa_ + n_;
    for (int32_t i = room - 1; i >= 0; --i)
      if (places[i] != kEmpty) *--reduced = places[i];
    return names;
  }

  // sa[0 .. count): the order of the LMS suffixes, numbered in text order.
  void sort_leftmost(int32_t names) {
    const std::span<const int32_t> reduced(sa_ + n_ - count_, size_t(count_));
    if (names < count_)
      InducedSorting<int32_t>(reduced, names, {sa_, size_t(count_)}).run();
    else
      for (int32_t i = 0; i < count_; ++i) sa_[reduced[size_t(i)]] = i;
  }

  // Derives the order of all suffixes from that of the LMS suffixes.
  void induce_from(std::span<const int32_t> sorted) {
    std::fill(sa_ + sorted.size(), sa_ + n_, kEmpty);
    std::vector<int32_t> end(starts_.begin() + 1, starts_.end());
    for (int32_t k = int32_t(sorted.size()) - 1; k >= 0; --k) {
      const int32_t start = sa_[k];
      sa_[k] = kEmpty;
      sa_[--end[size_t(text_[start])]] = start;
    }
    induce();
  }

  // Inserts suffixes of type L from left to right, then those of type S from right to left.
  void induce() {
    std::vector<int32_t> next(starts_.begin(), starts_.end() - 1);
    sa_[next[size_t(text_[n_ - 1])]++] = n_ - 1;
    for (int32_t i = 0; i < n_; ++i) {
      if (i % kBetweenLooks == 0) check_interrupt();
      const int32_t before = sa_[i] - 1;
      if (before >= 0 && text_[before] >= text_[before + 1])
        sa_[next[size_t(text_[before])]++] = before;
    }
    std::copy(starts_.begin() + 1, starts_.end(), next.begin());
    for (int32_t i = n_ - 1; i >= 0; --i) {
      if (i % kBetweenLooks == 0) check_interrupt();
      const int32_t before = sa_[i] - 1;
      if (before < 0) continue;
      const Letter letter = text_[before], follower = text_[before + 1];
      // A suffix with the same first letter has type S if it was inserted from the right.
      if (letter < follower || (letter == follower && i >= next[size_t(letter)]))
        sa_[--next[size_t(letter)]] = before;
    }
  }

  const Letter* text_;
  const int32_t n_;
  int32_t* sa_;
  int32_t count_ = 0;            // number of LMS suffixes
  std::vector<int32_t> starts_;  // start of each bucket
};

}  // namespace

std::vector<int32_t> suffix_array(std::span<const uint8_t> text) {
  if (int64_t(text.size()) > kLongestText)
    throw std::length_error("a suffix array has room for 2^31 - 2 letters");
  std::vector<int32_t> sa(text.size());
  if (!text.empty()) InducedSorting<uint8_t>(text, kBytes, sa).run();
  return sa;
}

}  // namespace kw

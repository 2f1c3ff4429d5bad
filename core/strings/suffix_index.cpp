#include "strings/suffix_index.h"

#include <algorithm>

#include "strings/suffix_array.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr uint16_t kEqual = 65535;                // in place of the LCP: equal to the suffix before
constexpr size_t kSoon = 16, kNext = 8;           // prefetch distances, in letters
constexpr size_t kLettersBetweenLooks = 1 << 20;  // letters between two checks for interrupts

// The LCP of each suffix with the one before (Kasai et al., 2001), at most `longest`, or kEqual.
std::vector<uint16_t> shared_letters(const std::vector<uint8_t>& texts,
                                     const std::vector<int32_t>& order,
                                     const std::vector<int32_t>& rank, int32_t longest) {
  const size_t n = texts.size();
  std::vector<uint16_t> shared(n);
  int32_t length = 0;
  for (size_t at = 0; at < n; ++at) {
    if (at % kLettersBetweenLooks == 0) check_interrupt();
    if (at + kSoon < n) {
      const auto soon = size_t(rank[at + kSoon]);
      __builtin_prefetch(order.data() + (soon ? soon - 1 : 0));
      __builtin_prefetch(shared.data() + soon, 1);
      const auto next = size_t(rank[at + kNext]);
      __builtin_prefetch(texts.data() + order[next ? next - 1 : 0] + length);
    }
    if (texts[at] == 0) {
      length = 0;
      continue;
    }
    const auto place = size_t(rank[at]);  // not 0: the end of a text precedes all letters
    const uint8_t *own = texts.data() + at, *other = texts.data() + order[place - 1];
    while (length < longest && own[length] != 0 && own[length] == other[length]) ++length;
    shared[place] = length == longest || own[length] == 0 ? kEqual : uint16_t(length);
    length = std::max(0, length - 1);
  }
  return shared;
}

}  // namespace

void append_text(const SequenceView& view, int64_t i, std::vector<uint8_t>& texts) {
  const size_t start = texts.size(), count = size_t(view.length_of(i));
  texts.resize(start + count + 1);
  view.unpack(i, texts.data() + start);
  size_t end = start;
  for (size_t at = start; at < start + count; ++at) {
    const uint8_t letter = texts[at] == kUnknown ? 0 : uint8_t(texts[at] + 1);
    if (letter || (end > start && texts[end - 1])) texts[end++] = letter;
  }
  if (end == start || texts[end - 1]) texts[end++] = 0;
  texts.resize(end);
}

SmallestValues::SmallestValues(std::vector<uint16_t> values) {
  levels_.push_back(std::move(values));
  while (levels_.back().size() > size_t(kWidth)) {
    const std::vector<uint16_t>& below = levels_.back();
    std::vector<uint16_t> above;
    above.reserve((below.size() + kWidth - 1) / kWidth);
    for (size_t at = 0; at < below.size(); at += kWidth)
      above.push_back(
          *std::min_element(below.begin() + int64_t(at),
                            below.begin() + int64_t(std::min(below.size(), at + size_t(kWidth)))));
    levels_.push_back(std::move(above));
  }
}

int32_t SmallestValues::next(int32_t from, int32_t bound) const {
  int32_t at = from;
  for (size_t level = 0; level < levels_.size(); ++level) {
    const std::vector<uint16_t>& values = levels_[level];
    const int32_t end = std::min(int32_t(values.size()), (at | (kWidth - 1)) + 1);
    while (at < end && values[size_t(at)] > bound) ++at;
    if (at < end) {
      while (level-- > 0)
        for (at *= kWidth; levels_[level][size_t(at)] > bound;) ++at;
      return at;
    }
    if (end == int32_t(values.size())) break;
    at = end / kWidth;
  }
  return size();
}

int32_t SmallestValues::previous(int32_t from, int32_t bound) const {
  int32_t at = from;
  for (size_t level = 0;; ++level) {
    const std::vector<uint16_t>& values = levels_[level];
    const int32_t begin = at & ~(kWidth - 1);
    while (at >= begin && values[size_t(at)] > bound) --at;
    if (at >= begin) {
      while (level-- > 0)
        for (at = at * kWidth + kWidth - 1; levels_[level][size_t(at)] > bound;) --at;
      return at;
    }
    at = begin / kWidth - 1;
  }
}

int64_t SmallestValues::bytes() const {
  int64_t bytes = 0;
  for (const auto& level : levels_) bytes += int64_t(level.capacity() * sizeof(uint16_t));
  return bytes;
}

SuffixIndex::SuffixIndex(std::vector<uint8_t> texts, int64_t longest)
    : texts_(std::move(texts)), longest_(int32_t(longest)), start_(suffix_array(texts_)) {
  entry_at_.resize(texts_.size());
  for (size_t place = 0; place < start_.size(); ++place)
    entry_at_[size_t(start_[place])] = int32_t(place);
  merge_equal(shared_letters(texts_, start_, entry_at_, longest_));
}

// Merges equal suffixes into one entry. Ends of texts are no entries.
void SuffixIndex::merge_equal(std::vector<uint16_t> shared) {
  const auto ends = size_t(std::count(texts_.begin(), texts_.end(), 0));
  for (size_t place = 0; place < ends; ++place) entry_at_[size_t(start_[place])] = 0;
  size_t count = 0;
  for (size_t place = ends; place < start_.size(); ++place) {
    const int32_t start = start_[place];
    if (shared[place] != kEqual) {
      start_[count] = start;
      shared[count++] = shared[place];
    }
    entry_at_[size_t(start)] = int32_t(count) - 1;
  }
  start_.resize(count);
  shared.resize(count);
  start_.shrink_to_fit();
  shared.shrink_to_fit();
  shared_ = SmallestValues(std::move(shared));
}

int64_t SuffixIndex::bytes() const {
  return int64_t(texts_.capacity() + (start_.capacity() + entry_at_.capacity()) * sizeof(int32_t)) +
         shared_.bytes();
}

void SuffixIndex::extend(const uint8_t* text, int32_t& entry, int32_t& length) const {
  do {
    const uint8_t* own = letters(entry);
    while (length < longest_ && text[length] != 0 && own[length] == text[length]) ++length;
  } while (length < longest_ && text[length] != 0 && find_sibling(text[length], length, entry));
}

// Moves `entry` to one with the same first `length` letters, followed by the given letter. Returns
// false if there is none.
bool SuffixIndex::find_sibling(uint8_t letter, int32_t length, int32_t& entry) const {
  uint8_t own = letters(entry)[length];
  while (own < letter) {
    const int32_t other = shared_.next(entry + 1, length);
    if (other == size() || shared(other) < length) return false;
    entry = other;
    own = letters(entry)[length];
    if (own > letter) return false;
  }
  while (own > letter) {
    const int32_t first = shared_.previous(entry, length);
    if (shared(first) < length || first == 0) return false;
    entry = first - 1;
    own = letters(entry)[length];
    if (own < letter) return false;
  }
  return true;
}

}  // namespace kw

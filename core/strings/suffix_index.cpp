#include "strings/suffix_index.h"

#include <algorithm>
#include <cstring>

#include "strings/suffix_array.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr uint16_t kEqual = 65535;                // in place of the LCP: equal to the suffix before
constexpr int32_t kBeyondMean = 3;                // letters of a probe beyond the mean LCP
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
  choose_probe();
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

// Random letters share about the mean LCP with an entry, so that a few letters more are mostly new.
void SuffixIndex::choose_probe() {
  int64_t total = 0;
  for (int32_t entry = 0; entry < size(); ++entry) total += shared(entry);
  const auto mean = int32_t(total / std::max(size(), 1));
  probe_ = std::clamp(mean + kBeyondMean, 1, std::max(longest_ / 2, 1));
}

int64_t SuffixIndex::bytes() const {
  return int64_t(texts_.capacity() + (start_.capacity() + entry_at_.capacity()) * sizeof(int32_t)) +
         shared_.bytes();
}

// Returns whether the first `length` letters of a new text are in an indexed text. A 0 ends both.
bool SuffixIndex::contains(const uint8_t* text, int32_t length) const {
  const auto order = [&](int32_t start) {
    const auto *own = reinterpret_cast<const char*>(texts_.data() + start),
               *other = reinterpret_cast<const char*>(text);
    return std::strncmp(own, other, size_t(length));
  };
  const auto start = std::partition_point(start_.begin(), start_.end(),
                                          [&](int32_t start) { return order(start) < 0; });
  return start != start_.end() && order(*start) == 0;
}

void SuffixIndex::extend(const uint8_t* text, int32_t& entry, int32_t& length) const {
  do {
    const uint8_t* own = letters(entry);
    while (length < longest_ && text[length] != 0 && own[length] == text[length]) ++length;
  } while (length < longest_ && text[length] != 0 && find_sibling(text[length], length, entry));
}

// Moves `entry` to one with the same first `length` letters, followed by the given letter. Returns
// false if there is none. Bisects the entries with these letters, on the side of the given letter.
bool SuffixIndex::find_sibling(uint8_t letter, int32_t length, int32_t& entry) const {
  int32_t first = entry + 1, last = entry;
  if (letters(entry)[length] < letter)
    last = length ? shared_.next(first, length - 1) : size();
  else
    first = length ? shared_.previous(entry, length - 1) : 0;
  const int32_t end = last;
  while (first < last) {
    const int32_t middle = first + (last - first) / 2;
    if (letters(middle)[length] < letter)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == end || letters(first)[length] != letter) return false;
  entry = first;
  return true;
}

}  // namespace kw

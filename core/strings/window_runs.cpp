#include "strings/window_runs.h"

#include <algorithm>

namespace kw {
namespace {

// True if bits [1, count) of a row equal bits [0, count - 1) of the next row.
bool moved(const uint64_t* row, const uint64_t* next, int64_t count) {
  const int64_t words = words_for(count);
  for (int64_t w = 0; w + 1 < words; ++w)
    if ((row[w] >> 1 | row[w + 1] << 63) != next[w]) return false;
  const uint64_t differ = row[words - 1] >> 1 ^ next[words - 1];
  return (differ & ((uint64_t{1} << ((count - 1) % 64)) - 1)) == 0;
}

bool follows(const SequenceView& view, int64_t i) {
  const int64_t length = view.length_of(i), words = words_for(length);
  if (view.length_of(i + 1) != length) return false;
  const int64_t start = view.start_of(i), next = view.start_of(i + 1);
  if (!view.planes)
    return std::equal(view.bytes + start + 1, view.bytes + start + length, view.bytes + next);
  return moved(view.words + start, view.words + next, length) &&
         moved(view.words + start + words, view.words + next + words, length);
}

uint8_t last_letter(const SequenceView& view, int64_t i) {
  const int64_t start = view.start_of(i), last = view.length_of(i) - 1;
  if (!view.planes) return view.bytes[start + last];
  const uint64_t* low = view.words + start + last / 64;
  const uint64_t* high = low + words_for(last + 1);
  return uint8_t((*low >> (last % 64) & 1) | (*high >> (last % 64) & 1) << 1);
}

}  // namespace

int64_t run_of_windows(const SequenceView& view, int64_t i, int64_t end) {
  if (end - i < kShortestRun || view.length_of(i) < 1 || !view.all_known(i)) return 1;
  int64_t next = i + 1;
  while (next < end && next < i + kLongestRun && follows(view, next - 1) && view.all_known(next))
    ++next;
  return next - i < kShortestRun ? 1 : next - i;
}

std::vector<uint8_t> text_of_windows(const SequenceView& view, int64_t i, int64_t count) {
  const int64_t length = view.length_of(i);
  std::vector<uint8_t> codes(size_t(length + count - 1));
  view.unpack(i, codes.data());
  for (int64_t w = 1; w < count; ++w) codes[length + w - 1] = last_letter(view, i + w);
  return codes;
}

}  // namespace kw

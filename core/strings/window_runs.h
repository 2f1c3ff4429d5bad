// Sequences that are windows of one text, each a letter behind the one before, as a scan of a
// genome has them: what neighbours share is computed once.
#pragma once
#include "strings/sequences.h"

namespace kw {

constexpr int64_t kShortestRun = 8;    // number of windows from which on sharing is faster,
constexpr int64_t kLongestRun = 1024;  // and that are taken at a time

// How many sequences from i on, before `end`, are such windows without unknown letters; at most
// kLongestRun, and 1 where it is less than kShortestRun.
int64_t run_of_windows(const SequenceView& view, int64_t i, int64_t end);

// The codes of the text of `count` windows from i on.
std::vector<uint8_t> text_of_windows(const SequenceView& view, int64_t i, int64_t count);

}  // namespace kw

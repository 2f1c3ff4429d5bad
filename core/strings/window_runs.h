// Detects sequences that are windows of one text, each shifted by one letter, as in a scan of a
// genome. Work on the letters that neighbours share is then done once.
#pragma once
#include "strings/sequences.h"

namespace kw {

constexpr int64_t kShortestRun = 8;    // number of windows from which on sharing is faster,
constexpr int64_t kLongestRun = 1024;  // and at which a run is cut

// Returns how many sequences from i on, before `end`, are such windows without unknown letters: 1,
// or from kShortestRun to kLongestRun.
int64_t run_of_windows(const SequenceView& view, int64_t i, int64_t end);

// The codes of the text that contains the `count` windows from i on.
std::vector<uint8_t> text_of_windows(const SequenceView& view, int64_t i, int64_t count);

}  // namespace kw

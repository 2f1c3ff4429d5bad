// Suffix arrays in time linear in the length of the text, for any alphabet.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace kw {

// Number of letters that int32_t can index.
constexpr int64_t kLongestText = (int64_t{1} << 31) - 2;

// Returns the starts of all suffixes in lexicographic order; a prefix of a suffix precedes it.
// Computed by induced sorting (Nong, Zhang and Chan, 2011); takes five bytes per letter, including
// the text. Throws std::length_error if the text is longer than kLongestText.
std::vector<int32_t> suffix_array(std::span<const uint8_t> text);

}  // namespace kw

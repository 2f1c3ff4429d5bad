// Suffix arrays in time linear in the text, whatever the alphabet.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace kw {

constexpr int64_t kLongestText = (int64_t{1} << 31) - 2;  // letters that int32_t can number

// The starts of all suffixes in lexicographic order; a suffix precedes its continuations. By
// induced sorting (Nong, Zhang and Chan, 2011); five bytes a letter, the text included. Throws
// std::length_error if the text is longer than kLongestText.
std::vector<int32_t> suffix_array(std::span<const uint8_t> text);

}  // namespace kw

// Letters of a sequence from a position on as 64-bit words, for tries and the weight store of the
// weighted degree kernel.
#pragma once
#include <algorithm>
#include <array>
#include <bit>

#include "strings/plane_table.h"

namespace kw {

// 64 letters from position p on. Bits after the end of the sequence are undefined.
inline uint64_t window_at(const uint64_t* plane, int64_t words, int64_t p) {
  const int64_t word = p / 64, bit = p % 64;
  const uint64_t next = word + 1 < words ? plane[word + 1] : 0;
  return plane[word] >> bit | (next << 1) << (63 - bit);
}

// The maximum length of a match at position p, given by the degree, the end of the sequence, or an
// unknown letter.
inline int64_t known_from(const PlaneTable& table, int64_t i, int64_t p, int64_t degree) {
  uint64_t stop = uint64_t{1} << std::min(degree, table.length - p);
  if (table.masked) stop |= window_at(table.unknown(i), table.words, p);
  return std::countr_zero(stop);
}

// A word contains as many letters as fit, first letter highest, above a tag of kTagBits bits.
// Increasing words are in lexicographic order of the letters, and the number of letters that two
// words share follows from their common leading bits.
constexpr int64_t kTagBits = 16;
constexpr uint64_t kTag = (uint64_t{1} << kTagBits) - 1;

inline int64_t letters_of_word(int64_t planes) { return (64 - kTagBits) / planes; }

// The first `count` letters of a word as a number.
inline uint64_t prefix(uint64_t word, int64_t planes, int64_t count) {
  return word >> (64 - planes * count);
}

// Reads words from bit planes, eight letters of a plane at a time.
class WordReader {
 public:
  explicit WordReader(int64_t planes) : planes_(planes) {
    for (uint64_t byte = 0; byte < 256; ++byte) {
      spread_[byte] = 0;
      for (int64_t i = 0; i < 8 && planes * (i + 1) <= 64; ++i)
        spread_[byte] |= (byte >> i & 1) << (64 - planes * (i + 1));
    }
  }

  // The letters of sequence i from position p on, with a tag of zero.
  uint64_t operator()(const PlaneTable& table, int64_t i, int64_t p) const {
    uint64_t word = 0;
    for (int64_t plane = 0; plane < planes_; ++plane) {
      const uint64_t window = window_at(table.letters(i) + plane * table.words, table.words, p);
      for (int64_t letter = 0; planes_ * letter < 64 - kTagBits; letter += 8)
        word |= (spread_[window >> letter & 255] << plane) >> (planes_ * letter);
    }
    return word & ~kTag;
  }

 private:
  int64_t planes_;
  std::array<uint64_t, 256> spread_;
};

}  // namespace kw

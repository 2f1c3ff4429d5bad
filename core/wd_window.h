// Letters of a sequence from a position on, as the weight store reads them.
#pragma once
#include <algorithm>
#include <bit>

#include "plane_table.h"

namespace kw {

// 64 letters from position p on. Bits behind the end of the sequence are arbitrary.
inline uint64_t window_at(const uint64_t* plane, int64_t words, int64_t p, int64_t stride = 1) {
  const int64_t word = p / 64, bit = p % 64;
  const uint64_t next = word + 1 < words ? plane[(word + 1) * stride] : 0;
  return plane[word * stride] >> bit | (next << 1) << (63 - bit);
}

// The bit at which matches from position p must end: the degree, the end, or an unknown letter.
inline uint64_t stop_at(const PlaneTable& table, int64_t i, int64_t p, int64_t degree) {
  uint64_t stop = uint64_t{1} << std::min(degree, table.length - p);
  if (table.masked) stop |= window_at(table.unknown(i), table.words, p);
  return stop & -stop;
}

// The first `depth` letters as a number: the bits of plane 0, then those of plane 1, ...
template <int P>
inline uint64_t index(const uint64_t* window, int64_t planes, int64_t depth) {
  const uint64_t mask = (uint64_t{1} << depth) - 1;
  uint64_t place = 0;
  for (int64_t plane = 0; plane < (P ? P : planes); ++plane)
    place |= (window[plane] & mask) << (plane * depth);
  return place;
}

}  // namespace kw

// Mismatches of words of many pairs of sequences, one bit of a vector for each pair: the table of
// loops behind strings/column_pairs.h.
#pragma once
#include <stdint.h>

#include "simd/pairs.h"

namespace kw {

// Sequences side by side: one vector for each letter and bit plane, stored `lanes` numbers apart.
// Vectors are read from letter -kPairRoom to kPairRoom letters after the last one.
struct ColumnStrand {
  const uint64_t* planes[kMostPlanes];  // plane k: bit k of the code of a letter
  const uint64_t* words;                // bit set if a word begins at the letter
};

struct ColumnTask {
  ColumnStrand x, y;
  // Bits in which the code of a letter differs from that of its complement.
  uint64_t flipped[kMostPlanes];
  int n_planes;
  int64_t length;       // length of a word, at most 63
  int64_t classes;      // numbers of mismatches that are counted: 0, 1, ..., classes - 1
  int64_t digits;       // binary digits of counters
  int64_t first_digit;  // 0: a pair counts once; 1: it counts twice
};

// Words at a + i of x and b + i of y, for i in [0, count); or, on the other strand of y, words at a
// - i of x and b + i of y. In the second case the first pair may be a word and its own reverse
// complement, which counts once. No word may begin after the last letter.
struct ColumnDiagonal {
  int64_t a, b, count;
  bool other_strand, from_partner;
};

constexpr int64_t kClassGroup = 8;  // numbers of mismatches counted together

struct ColumnLoops {
  int64_t lanes;  // numbers of 64 bits in a vector
  // Transposes rows of bits: 64 rows for each number of a vector, one number after the other, to 64
  // vectors. Bit p of row 64 j + r becomes bit r of number j of vector p.
  void (*transpose)(const uint64_t* rows, uint64_t* vectors);
  // words[p] = the bitwise and of `length` vectors of known letters from p on, for p < places.
  void (*mark)(const uint64_t* known, int64_t length, int64_t places, uint64_t* words);
  // Adds pairs of words to the counters of their numbers of mismatches, `digits` vectors each.
  // There must be memory for whole groups of kClassGroup counters.
  void (*count)(const ColumnTask& task, const ColumnDiagonal& diagonal, uint64_t* counters);
  // Adds one to the counter of each set bit.
  void (*add)(const uint64_t* bits, uint64_t* counter);
  // Converts a counter to one number for each sequence.
  void (*read)(const uint64_t* counter, int64_t digits, uint64_t* numbers);
};

}  // namespace kw

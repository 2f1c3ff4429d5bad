// Words of many pairs of sequences, a bit for each pair: the loops behind kernels that compare
// words by their number of mismatches.
#pragma once
#include <stdint.h>

#include "simd/pairs.h"

namespace kw {

// Sequences in columns. There is a vector for each letter and plane, `lanes` numbers behind the one
// before; vectors are read from letter -kPairRoom on, and kPairRoom behind the last letter.
struct ColumnStrand {
  const uint64_t* planes[kMostPlanes];  // bit k of the code of a letter
  const uint64_t* words;                // whether a word begins at a letter
};

struct ColumnTask {
  ColumnStrand x, y;
  uint64_t flipped[kMostPlanes];  // bits by which codes differ from those of their partners
  int n_planes;
  int64_t length;       // length of a word, at most 63
  int64_t classes;      // numbers of mismatches that count: 0, 1, ..., classes - 1
  int64_t digits;       // binary digits of counters
  int64_t first_digit;  // 0: a pair counts once; 1: it counts twice
};

// Words at a + i of x and b + i of y, for i in [0, count); or those at a - i of x and b + i of the
// other strand of y, of which the first may be a word and its own partner, which counts once.
// Behind them no word may begin at one of the two places.
struct ColumnDiagonal {
  int64_t a, b, count;
  bool other_strand, from_partner;
};

constexpr int64_t kClassGroup = 8;  // classes that are counted together

struct ColumnLoops {
  int64_t lanes;  // numbers of 64 bits in a vector
  // Rows of bits, 64 for each number of a vector and one number behind the other, to 64 vectors:
  // bit r of number j of vector p was bit p of number 64 j + r.
  void (*transpose)(const uint64_t* rows, uint64_t* vectors);
  // words[p]: all of `length` vectors of known letters from p on, for p < places.
  void (*mark)(const uint64_t* known, int64_t length, int64_t places, uint64_t* words);
  // Adds pairs by their mismatches to counters, `digits` vectors for each class; there is room for
  // whole groups of classes.
  void (*count)(const ColumnTask& task, const ColumnDiagonal& diagonal, uint64_t* counters);
  // Adds one to a counter for each bit that is set.
  void (*add)(const uint64_t* bits, uint64_t* counter);
  // Values of a counter, one for each sequence.
  void (*read)(const uint64_t* counter, int64_t digits, uint64_t* numbers);
};

}  // namespace kw

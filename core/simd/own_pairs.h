// Words of many sequences, each against words of its own: the loops behind k(x, x) of kernels that
// compare words by their number of mismatches.
#pragma once
#include <stdint.h>

#include "simd/pairs.h"

namespace kw {

// A vector has a bit for each sequence. There is one for each letter and plane, and each number of
// a vector is read `lanes` numbers behind the one before; they are read from letter -kPairRoom on,
// and kPairRoom behind the last letter.
struct OwnPairTask {
  const uint64_t* planes[kMostPlanes];  // bit k of the code of a letter
  const uint64_t* words;                // whether a word begins at a letter
  uint64_t flipped[kMostPlanes];        // bits by which codes differ from those of their partners
  int n_planes;
  int64_t length;   // of a word, at most 63
  int64_t classes;  // numbers of mismatches that count: 0, 1, ..., classes - 1
  int64_t digits;   // of counters
};

// Words at a + i and b + i, for i in [0, count); or those at a - i and b + i of the other strand,
// of which the first two may be one word, with its own partner. Behind them no word may begin at
// one of the two places.
struct OwnPairDiagonal {
  int64_t a, b, count;
  bool other_strand, from_partner;
};

constexpr int64_t kClassGroup = 8;  // classes that are counted together

struct OwnPairLoops {
  int64_t lanes;  // numbers of 64 bits in a vector
  // Rows of bits, 64 for each number of a vector and one number behind the other, to 64 vectors:
  // bit r of number j of vector p was bit p of number 64 j + r.
  void (*transpose)(const uint64_t* rows, uint64_t* vectors);
  // words[p]: all of `length` vectors of known letters from p on, for p < places.
  void (*mark)(const uint64_t* known, int64_t length, int64_t places, uint64_t* words);
  // Adds pairs by their mismatches to counters, `digits` vectors for each class; there is room for
  // whole groups of classes. Pairs count twice, a word and its own partner once.
  void (*count)(const OwnPairTask& task, const OwnPairDiagonal& diagonal, uint64_t* counters);
  // Adds one to a counter for each bit that is set.
  void (*add)(const uint64_t* bits, uint64_t* counter);
  // What a counter says, a number for each sequence.
  void (*read)(const uint64_t* counter, int64_t digits, uint64_t* numbers);
};

}  // namespace kw

// Words of two sequences, compared 64 pairs at a time: the loops behind kernels that compare words
// by their number of mismatches.
#pragma once
#include <stdint.h>

namespace kw {

// Letters of a sequence in bit planes, at every offset: bit i of numbers[k][p] is bit k of the code
// of letter p + i. Numbers are read from p = -kPairRoom on, and kPairRoom behind the last letter.
constexpr int64_t kPairRoom = 64;
constexpr int kMostPlanes = 8;

struct PairStrand {
  const uint64_t* planes[kMostPlanes];
  const uint64_t* words;  // bit i of words[p]: a word that counts begins at letter p + i
};

// Words that begin at letters [first, first + width) of x, against words of y: bit i of lane p
// represents the words at first + i and p + i, for p in [begin, end). Lanes are taken several at a
// time, so that words behind `end` must not count where there are any.
struct PairRange {
  int64_t first, width, begin, end;
};

struct PairTask {
  PairStrand x, y;
  const PairRange* ranges;
  int64_t n_ranges;
  // Bits of these numbers, at first + p, are the pairs that count; null: all do.
  const uint64_t* some;
  int planes;       // bit planes of the alphabet
  int64_t length;   // length of a word, at most 63
  int64_t classes;  // numbers of mismatches that count: 0, 1, ..., classes - 1
};

// Words at letters x and y, with so many mismatches.
struct PairFound {
  int32_t x, y, mismatches;
};

struct PairLoops {
  // Bits [p, p + 64) of a row of bits, for all p < 64 * count; it has count + 1 words.
  void (*offsets)(const uint64_t* bits, int64_t count, uint64_t* out);
  // found[m] += the number of pairs with m mismatches.
  void (*count)(const PairTask& task, uint64_t* found);
  // Writes the pairs that count of one range, and returns how many there are; `found` has room for
  // all of them.
  int64_t (*list)(const PairTask& task, PairFound* found);
  // found[m] += the number of words at i of x with m mismatches to the word at places - 1 - i of y.
  void (*partners)(const PairTask& task, int64_t places, uint64_t* found);
};

}  // namespace kw

// Tables of all words: the loops behind operators on them.
#pragma once
#include <stdint.h>

namespace kw {

struct WordLoops {
  // A table as groups of `letters` runs of `stride` numbers: each group of numbers that differ in
  // one letter is reflected, x - 2 v (v'x), so that the first one becomes their sum over the square
  // root of `letters`. Twice gives back the table.
  void (*reflect)(double* table, int64_t letters, int64_t stride, int64_t groups);
  // The same for two letters of four, one after the other: 16 runs a group. stride: a multiple
  // of 8.
  void (*reflect_two)(double* table, int64_t stride, int64_t groups);
  // A 16 x 16 matrix, transposed in place.
  void (*transpose)(double* matrix);
};

}  // namespace kw

// Tables of all words: the table of loops behind strings/word_operator.h.
#pragma once
#include <stdint.h>

namespace kw {

struct WordLoops {
  // A table as groups of `letters` runs of `stride` numbers. Each group of numbers that differ in
  // one letter is multiplied by the reflection x - 2 v (v'x) that maps the constant vector to a
  // multiple of the first unit vector. Applying it twice restores the table.
  void (*reflect)(double* table, int64_t letters, int64_t stride, int64_t groups);
  // The same for two letters of four, one after the other: groups of 16 runs. stride must be a
  // multiple of 8.
  void (*reflect_two)(double* table, int64_t stride, int64_t groups);
  // Transposes a 16 x 16 matrix in place.
  void (*transpose)(double* matrix);
};

}  // namespace kw

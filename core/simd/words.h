// Tables of words and windows of letters: the loops behind kernels that compare words by their
// number of mismatches.
#pragma once
#include <stdint.h>

namespace kw {

// All words of a sequence x against all words of a sequence y. Letters a of x and j of y lie on the
// diagonal j - a; from one letter to the next the window of a word gains a pair of letters and
// loses one. Arrays of y can be read 64 places before their beginning (letters: and l more) and
// after their end, where nothing matches x and no word ends.
struct WindowTask {
  const uint8_t *x, *y;                  // letters
  const uint8_t *x_no_word, *y_no_word;  // 128 where no word ends, 0 elsewhere
  int64_t x_length, y_length;
  int64_t first;          // the first diagonal that counts,
  int64_t last_sum;       // and the last a + j
  const uint8_t* beyond;  // at j + step * a: 128 where pairs do not count, 0 elsewhere
  int64_t step;
  int64_t length;   // of a word
  int64_t classes;  // numbers of mismatches that count: 0, 1, ..., classes - 1
  uint64_t* found;  // how many pairs there are of each is added to it
};

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
  void (*windows)(const WindowTask& task);
};

}  // namespace kw

// Functions of the number of mismatches as operators on tables of all words of l letters,
//
//   (A t)[u] = sum_v h(mismatches of u and v) t[v].
//
// Such an A is a sum of products of I and of the matrix of ones, one for each place of a word, so
// all of them have the same eigenvectors: products of the constant function (in the letters at some
// places) and of functions of mean zero (at w places). The eigenvalue depends on w alone, so that
// l + 1 numbers, the spectrum, are all of A. At each place a reflection that takes the constant
// function to the first unit vector changes to that basis, and back.
#pragma once
#include <cstdint>
#include <vector>

namespace kw {

class WordOperator {
 public:
  // skipped: a place at which words must agree (A is then a function of the mismatches at the
  // others, l numbers), or -1.
  WordOperator(int64_t letters, int64_t length, int64_t skipped = -1);

  int64_t size() const { return size_; }
  // table <- A table. spectrum: by w.
  void apply(const double* spectrum, int threads, double* table) const;
  // The same for several spectra, `count` of them, l + 1 numbers each: tables[i] <- A_i table, each
  // of which has room for a table. Overwrites the table.
  void apply_each(const double* spectra, int64_t count, int threads, double* table,
                  double* const* tables) const;
  // out[w], l + 1 numbers: t'A t is the sum of out[w] times the spectrum. Overwrites the table.
  void energies(int threads, double* table, double* out) const;

 private:
  // A table is rows of `width` numbers: words that begin alike. They are reflected row by row, and
  // then some columns at a time, copied side by side.
  void reflect_row(double* row) const;
  void reflect_columns(double* columns, int64_t count) const;
  template <typename Work>
  void for_columns(int threads, const double* table, Work&& work) const;
  // Multiplies reflected columns with the spectrum and reflects them back, into a table.
  void finish_columns(const double* spectrum, double* columns, int64_t first, int64_t count,
                      double* table) const;
  void reflect_rows(int threads, double* table) const;
  std::vector<double> factors(const double* spectrum, int64_t first, int64_t count) const;

  const int64_t letters_, length_;
  int64_t rows_ = 1, width_ = 1, size_ = 1;
  int64_t row_letters_ = 0;  // letters that the words of a row share
  bool swapped_;  // the last two pairs of letters of a word change places in a reflected row
  std::vector<uint8_t> row_weight_, column_weight_;  // w of the first and of the last letters
};

}  // namespace kw

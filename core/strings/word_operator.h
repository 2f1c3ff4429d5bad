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
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kw {

class WordOperator {
 public:
  // skipped: a place at which words must agree (A is then a function of the mismatches at the
  // others, l numbers), or -1.
  WordOperator(int64_t letters, int64_t length, int64_t skipped = -1);

  // Sets the numbers of a row of a table; null: they are there.
  using Fill = std::function<void(int64_t row, double* numbers)>;
  // Is told the numbers of a row of table i, instead of the table. Rows are told in kParts parts,
  // those of a part one after the other.
  using Read = std::function<void(int64_t i, int64_t part, int64_t row, const double* numbers)>;
  static constexpr int64_t kParts = 16;

  int64_t size() const { return size_; }
  // A table is rows of `width` numbers: words that begin alike.
  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  // table <- A table. spectrum: by w.
  void apply(const double* spectrum, int threads, double* table) const;
  // The same for several spectra, l + 1 numbers each: tables[i] <- A_i table. Each of `tables` has
  // room for a table. Overwrites `table`.
  void apply_each(const double* spectra, int threads, double* table,
                  std::span<double* const> tables, const Fill& fill = nullptr,
                  const Read& read = nullptr) const;
  // out[w], l + 1 numbers: t'A t is the sum of out[w] times the spectrum. Overwrites the table.
  void squared_norms(int threads, double* table, double* out, const Fill& fill = nullptr) const;

 private:
  // Tables are reflected row by row, and then some columns at a time, copied side by side.
  void reflect_row(double* row) const;
  void reflect_columns(double* columns, int64_t count) const;
  template <std::invocable<int64_t, double*, int64_t, int64_t> Work>
  void for_columns(int threads, const double* table, Work&& work) const;
  // Multiplies reflected columns with the spectrum and reflects them back, into a table.
  void finish_columns(const double* spectrum, double* columns, int64_t first, int64_t count,
                      double* table) const;
  void reflect_rows(int threads, double* table, const Fill& fill) const;
  void read_rows(int64_t i, int threads, const double* table, const Read& read) const;
  std::vector<double> factors(const double* spectrum, int64_t first, int64_t count) const;

  const int64_t letters_, length_;
  int64_t rows_ = 1, width_ = 1, size_ = 1;
  int64_t row_letters_ = 0;  // letters that the words of a row share
  bool swapped_;  // the last two pairs of letters of a word change places in a reflected row
  std::vector<uint8_t> row_weight_, column_weight_;  // w of the first and of the last letters
};

}  // namespace kw

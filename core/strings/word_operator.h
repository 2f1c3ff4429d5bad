// Functions of the number of mismatches as operators on tables of all words of l letters,
//
//   (A t)[u] = sum_v h(mismatches of u and v) t[v].
//
// Such an A is a sum of Kronecker products of I and the matrix of ones, one factor for each
// position of a word. So all of them have the same eigenvectors: products of the constant function
// in the letters at some positions, and functions of mean zero at the other w positions. The
// eigenvalue depends on w only, so that l + 1 numbers, the spectrum, determine A. At each position
// a reflection that maps the constant function to the first unit vector changes to that basis and
// back. A product A t takes time proportional to l times the size of the table.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kw {

class WordOperator {
 public:
  // skipped: a position at which words must agree, or -1. A is then a function of the mismatches at
  // the other positions, and its spectrum has l numbers.
  WordOperator(int64_t letters, int64_t length, int64_t skipped = -1);

  // Sets the entries of a row of a table; null: they are set already.
  using Fill = std::function<void(int64_t row, double* numbers)>;
  // Receives the entries of a row of table i, instead of writing them to the table. Rows come in
  // kParts parts, which may run in parallel; the rows of a part come one after the other.
  using Read = std::function<void(int64_t i, int64_t part, int64_t row, const double* numbers)>;
  static constexpr int64_t kParts = 16;

  int64_t size() const { return size_; }
  // A table consists of rows of `width` entries: words with the same first letters.
  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  // table <- A table. spectrum: eigenvalues by w.
  void apply(const double* spectrum, int threads, double* table) const;
  // The same for several spectra of l + 1 numbers each: tables[i] <- A_i table. Each of `tables`
  // must have the size of a table. Overwrites `table`.
  void apply_each(const double* spectra, int threads, double* table,
                  std::span<double* const> tables, const Fill& fill = nullptr,
                  const Read& read = nullptr) const;
  // out[w], l + 1 numbers: t'A t is the sum over w of out[w] times the spectrum. Overwrites the
  // table.
  void squared_norms(int threads, double* table, double* out, const Fill& fill = nullptr) const;

 private:
  // Tables are reflected row by row, and then a few columns at a time, copied side by side.
  void reflect_row(double* row) const;
  void reflect_columns(double* columns, int64_t count) const;
  template <std::invocable<int64_t, double*, int64_t, int64_t> Work>
  void for_columns(int threads, const double* table, Work&& work) const;
  // Multiplies reflected columns by the spectrum, reflects them back, and writes them to a table.
  void finish_columns(const double* spectrum, double* columns, int64_t first, int64_t count,
                      double* table) const;
  void reflect_rows(int threads, double* table, const Fill& fill) const;
  void read_rows(int64_t i, int threads, const double* table, const Read& read) const;
  std::vector<double> factors(const double* spectrum, int64_t first, int64_t count) const;

  const int64_t letters_, length_;
  int64_t rows_ = 1, width_ = 1, size_ = 1;
  int64_t row_letters_ = 0;  // number of letters that the words of a row share
  bool swapped_;  // the last two pairs of letters of a word are exchanged in a reflected row
  std::vector<uint8_t> row_weight_, column_weight_;  // w of the first and of the last letters
};

}  // namespace kw

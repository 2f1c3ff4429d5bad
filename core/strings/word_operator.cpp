#include "strings/word_operator.h"

#include <algorithm>
#include <utility>

#include "simd/simd.h"
#include "system/recycled.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kWidth = 4096;  // maximum length of a row: 32 kB
constexpr int64_t kColumns = 32;  // columns copied side by side
constexpr int64_t kRows = 64;     // rows that a thread processes at a time

// Number of nonzero letters of each index of `count` letters, without the letter `skipped`.
std::vector<uint8_t> nonzero_letters(int64_t letters, int64_t count, int64_t skipped) {
  std::vector<uint8_t> weights = {0};
  for (int64_t place = 0; place < count; ++place) {
    std::vector<uint8_t> longer;
    for (uint8_t weight : weights)
      for (int64_t a = 0; a < letters; ++a)
        longer.push_back(uint8_t(weight + (a > 0 && place != skipped)));
    weights = std::move(longer);
  }
  return weights;
}

// Transposes a 16 x 16 matrix in place.
void transpose(double* matrix) {
  for (int i = 1; i < 16; ++i)
    for (int j = 0; j < i; ++j) std::swap(matrix[i * 16 + j], matrix[j * 16 + i]);
}

}  // namespace

WordOperator::WordOperator(int64_t letters, int64_t length, int64_t skipped)
    : letters_(letters), length_(length) {
  int64_t last = 0;
  while (last < length && width_ * letters <= kWidth) {
    width_ *= letters;
    ++last;
  }
  if (last == 0) {  // the alphabet is larger than a row
    width_ = letters;
    last = 1;
  }
  row_letters_ = length - last;
  for (int64_t place = 0; place < row_letters_; ++place) rows_ *= letters;
  size_ = rows_ * width_;
  swapped_ = letters == 4 && last >= 4;
  row_weight_ = nonzero_letters(letters, row_letters_, skipped);
  column_weight_ = nonzero_letters(letters, last, skipped < 0 ? -1 : skipped - row_letters_);
  if (!swapped_) return;
  const std::vector<uint8_t> weights = column_weight_;
  for (int64_t c = 0; c < width_; ++c) {
    const int64_t inner = c % 256;
    column_weight_[c - inner + inner % 16 * 16 + inner / 16] = weights[c];
  }
}

// Reflects the letters of a row. The last two pairs of letters of DNA are exchanged by a
// transposition after the first pair, so that all loops run along memory. The result stays
// transposed; the second application restores the order.
void WordOperator::reflect_row(double* row) const {
  const auto reflect = [&](int64_t first, int64_t end) {
    for (int64_t stride = first; stride < end; stride *= letters_)
      simd().reflect(row, letters_, stride, width_ / stride / letters_);
  };
  if (!swapped_) return reflect(1, width_);
  reflect(16, 256);
  for (int64_t at = 0; at < width_; at += 256) transpose(row + at);
  reflect(16, width_);
}

void WordOperator::reflect_columns(double* columns, int64_t count) const {
  const int64_t all = rows_ * count;
  for (int64_t stride = count; stride < all; stride *= letters_)
    simd().reflect(columns, letters_, stride, all / stride / letters_);
}

void WordOperator::reflect_rows(int threads, double* table, const Fill& fill) const {
  run_team(threads, (rows_ + kRows - 1) / kRows, [&](int64_t part, int) {
    for (int64_t r = part * kRows; r < std::min(rows_, (part + 1) * kRows); ++r) {
      if (fill) fill(r, table + r * width_);
      reflect_row(table + r * width_);
    }
    check_interrupt();
  });
}

// Rows are reflected in a copy, since the table itself is not needed again.
void WordOperator::read_rows(int64_t i, int threads, const double* table, const Read& read) const {
  run_team(threads, kParts, [&](int64_t part, int) {
    Buffer<double> row(static_cast<size_t>(width_));
    for (int64_t r = rows_ * part / kParts; r < rows_ * (part + 1) / kParts; ++r) {
      std::copy_n(table + r * width_, width_, row.data());
      reflect_row(row.data());
      read(i, part, r, row.data());
    }
    check_interrupt();
  });
}

// Calls work(part, columns, first, count) with the reflected columns [first, first + count) of all
// rows.
template <std::invocable<int64_t, double*, int64_t, int64_t> Work>
void WordOperator::for_columns(int threads, const double* table, Work&& work) const {
  run_team(threads, (width_ + kColumns - 1) / kColumns, [&](int64_t part, int) {
    const int64_t first = part * kColumns, count = std::min(kColumns, width_ - first);
    Buffer<double> columns(size_t(rows_ * count));
    for (int64_t r = 0; r < rows_; ++r)
      std::copy_n(table + r * width_ + first, count, columns.data() + r * count);
    reflect_columns(columns.data(), count);
    work(part, columns.data(), first, count);
    check_interrupt();
  });
}

// The spectrum at the w of each row and of some columns.
std::vector<double> WordOperator::factors(const double* spectrum, int64_t first,
                                          int64_t count) const {
  std::vector<double> values;
  for (int64_t w = 0; w <= row_letters_; ++w)
    for (int64_t c = first; c < first + count; ++c)
      values.push_back(spectrum[w + column_weight_[c]]);
  return values;
}

void WordOperator::finish_columns(const double* spectrum, double* columns, int64_t first,
                                  int64_t count, double* table) const {
  const std::vector<double> factor = factors(spectrum, first, count);
  for (int64_t r = 0; r < rows_; ++r)
    simd().mul(factor.data() + row_weight_[r] * count, columns + r * count, count);
  reflect_columns(columns, count);
  for (int64_t r = 0; r < rows_; ++r)
    std::copy_n(columns + r * count, count, table + r * width_ + first);
}

void WordOperator::apply(const double* spectrum, int threads, double* table) const {
  apply_each(spectrum, threads, table, {&table, 1});
}

void WordOperator::apply_each(const double* spectra, int threads, double* table,
                              std::span<double* const> tables, const Fill& fill,
                              const Read& read) const {
  const int64_t count = int64_t(tables.size());
  reflect_rows(threads, table, fill);
  for_columns(threads, table, [&](int64_t, double* columns, int64_t first, int64_t width) {
    Buffer<double> copy;
    for (int64_t i = 0; i + 1 < count; ++i) {
      copy.assign(columns, columns + rows_ * width);
      finish_columns(spectra + i * (length_ + 1), copy.data(), first, width, tables[i]);
    }
    finish_columns(spectra + (count - 1) * (length_ + 1), columns, first, width, tables[count - 1]);
  });
  for (int64_t i = 0; i < count; ++i)
    if (read)
      read_rows(i, threads, tables[i], read);
    else
      reflect_rows(threads, tables[i], nullptr);
}

void WordOperator::squared_norms(int threads, double* table, double* out, const Fill& fill) const {
  reflect_rows(threads, table, fill);
  const int64_t parts = (width_ + kColumns - 1) / kColumns;
  std::vector<std::vector<double>> sums(parts, std::vector<double>(length_ + 1, 0.0));
  for_columns(threads, table, [&](int64_t part, double* columns, int64_t first, int64_t count) {
    std::vector<double> squares((row_letters_ + 1) * count, 0.0);
    for (int64_t r = 0; r < rows_; ++r) {
      double* to = squares.data() + row_weight_[r] * count;
      const double* from = columns + r * count;
      for (int64_t c = 0; c < count; ++c) to[c] += from[c] * from[c];
    }
    for (int64_t w = 0; w <= row_letters_; ++w)
      for (int64_t c = 0; c < count; ++c)
        sums[part][w + column_weight_[first + c]] += squares[w * count + c];
  });
  std::fill_n(out, length_ + 1, 0.0);
  for (const std::vector<double>& part : sums)
    for (int64_t w = 0; w <= length_; ++w) out[w] += part[w];
}

}  // namespace kw

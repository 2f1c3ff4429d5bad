// Vectors in single precision, in the memory layout from which distances of many pairs are
// computed.
#pragma once
#include <memory>
#include <vector>

#include "kernels/examples.h"
#include "simd/single.h"
#include "system/recycled.h"

namespace kw {

// Vectors as panels of floats, and their squared norms. Dense vectors are centred. For sparse
// vectors the list of nonzero values is kept as well, from which rows are read.
class SingleTable {
 public:
  // Null if reading cached distances is cheaper than computing them.
  static std::shared_ptr<const SingleTable> of(const Table& table);
  std::shared_ptr<const SingleTable> subset(IdSpan ids) const;

  int64_t n() const { return n_; }
  int64_t panels() const { return (n_ + kPanel - 1) / kPanel; }
  double largest_norm() const;
  double usual_norm() const;  // the 99 % quantile of the norms

 private:
  friend class SingleRows;
  SingleTable(int64_t n, int64_t d, bool sparse);
  explicit SingleTable(const DenseTable& table);
  explicit SingleTable(const SparseTable& table);
  bool sparse() const { return !starts_.empty(); }
  // Address of the first value of example i; consecutive values are kPanel apart.
  float* place(int64_t i) { return values_.data() + i / kPanel * kPanel * d_ + i % kPanel; }
  const float* place(int64_t i) const {
    return values_.data() + i / kPanel * kPanel * d_ + i % kPanel;
  }
  void append(float value, int32_t column) {
    listed_.push_back(value);
    columns_.push_back(column);
  }
  // Ends the list of values of example i, and copies them to its panel.
  void end_example(int64_t i);

  int64_t n_, d_;
  Buffer<float> values_, norms_;
  // For sparse vectors: the list of values; that of example i begins at starts_[i].
  std::vector<float> listed_;
  std::vector<int32_t> columns_;
  std::vector<int64_t> starts_;
};

// Some examples as rows for `distances`: their values times -2, and their squared norms.
class SingleRows {
 public:
  SingleRows(const SingleTable& table, IdSpan ids);

  // out[r * kPanel + j]: squared distances of rows [first, first + count) from the examples of one
  // panel of a subset of the same vectors.
  void distances(int64_t first, int64_t count, const SingleTable& others, int64_t panel,
                 float* out) const;

 private:
  int64_t d_;
  Buffer<float> values_, norms_;
  std::vector<int32_t> columns_;
  std::vector<int64_t> starts_;  // empty for dense vectors, which have d values each
};

}  // namespace kw

// Vectors in single precision, laid out for the distances of many pairs.
#pragma once
#include <memory>
#include <vector>

#include "kernels/examples.h"
#include "simd/single.h"
#include "system/recycled.h"

namespace kw {

// Vectors as panels of single numbers, and their squared norms. Dense ones are moved to their mean.
// The nonzero values of sparse vectors are cached as well: rows of distances read them one by one.
class SingleTable {
 public:
  // Null where distances are cheaper to keep than to compute.
  static std::shared_ptr<const SingleTable> of(const Table& table);
  std::shared_ptr<const SingleTable> subset(IdSpan ids) const;

  int64_t n() const { return n_; }
  int64_t panels() const { return (n_ + kPanel - 1) / kPanel; }
  double largest_norm() const;
  double usual_norm() const;  // bound of the norms of nearly all examples

 private:
  friend class SingleRows;
  SingleTable(int64_t n, int64_t d, bool sparse);
  explicit SingleTable(const DenseTable& table);
  explicit SingleTable(const SparseTable& table);
  bool sparse() const { return !starts_.empty(); }
  // Address of the first value of example i; the others are kPanel apart.
  float* place(int64_t i) { return values_.data() + i / kPanel * kPanel * d_ + i % kPanel; }
  const float* place(int64_t i) const {
    return values_.data() + i / kPanel * kPanel * d_ + i % kPanel;
  }
  void append(float value, int32_t column) {
    listed_.push_back(value);
    columns_.push_back(column);
  }
  // Ends the values of example i, which are put into its panel.
  void end_example(int64_t i);

  int64_t n_, d_;
  Buffer<float> values_, norms_;
  // For sparse vectors: the entries of example i begin at starts_[i].
  std::vector<float> listed_;
  std::vector<int32_t> columns_;
  std::vector<int64_t> starts_;
};

// Some examples as rows of distances: their values times -2, and their norms.
class SingleRows {
 public:
  SingleRows(const SingleTable& table, IdSpan ids);

  // Squared distances of rows [first, first + count) and the examples of a panel of some of the
  // same vectors: out[r * kPanel + j].
  void distances(int64_t first, int64_t count, const SingleTable& others, int64_t panel,
                 float* out) const;

 private:
  int64_t d_;
  Buffer<float> values_, norms_;
  std::vector<int32_t> columns_;
  std::vector<int64_t> starts_;  // empty: d values for every row
};

}  // namespace kw

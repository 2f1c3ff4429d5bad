// One side of a kernel evaluation: n examples as the core reads them. A side has one table for each
// shared quantity of a program (`Table`) and one vector for each normalisation. Arrays may be owned
// by Python objects, which are kept alive.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "system/ids.h"

namespace kw {

template <typename T>
struct Array {
  const T* data = nullptr;
  std::shared_ptr<const void> owner;

  const T& operator[](int64_t i) const { return data[i]; }
};

template <typename T>
Array<T> own(std::vector<T> values) {
  auto held = std::make_shared<const std::vector<T>>(std::move(values));
  return {held->data(), held};
}

// A 128-bit hash of an example.
using Fingerprint = std::array<uint64_t, 2>;

class Table {
 public:
  virtual ~Table() = default;
  virtual std::shared_ptr<const Table> subset(IdSpan ids) const = 0;
  // Adds example i to a fingerprint. By default all examples have different fingerprints.
  virtual void mix(int64_t i, Fingerprint& print) const;
};

// Casts a table to the type that a quantity reads.
template <std::derived_from<Table> Kind>
const Kind& table_as(const Table& table) {
  const auto* found = dynamic_cast<const Kind*>(&table);
  if (!found) throw std::invalid_argument("the examples are of another kind than a kernel reads");
  return *found;
}

// Vectors of d values.
class VectorTable : public Table {
 public:
  explicit VectorTable(int64_t n, int64_t d) : n(n), d(d) {}
  virtual void unpack(int64_t i, double* out) const = 0;  // d values of example i
  virtual bool sparse() const = 0;

  const int64_t n, d;
  std::vector<double> norms;  // squared Euclidean norms
};

class DenseTable : public VectorTable {
 public:
  DenseTable(Array<double> x, int64_t n, int64_t d);
  std::shared_ptr<const Table> subset(IdSpan ids) const override;
  void unpack(int64_t i, double* out) const override;
  void mix(int64_t i, Fingerprint& print) const override;
  bool sparse() const override { return false; }

  const Array<double> x;
};

class SparseTable : public VectorTable {
 public:
  SparseTable(Array<double> data, Array<int32_t> indices, Array<int64_t> indptr, int64_t n,
              int64_t d);
  std::shared_ptr<const Table> subset(IdSpan ids) const override;
  void unpack(int64_t i, double* out) const override;
  void mix(int64_t i, Fingerprint& print) const override;
  bool sparse() const override { return true; }

  const Array<double> data;
  const Array<int32_t> indices;
  const Array<int64_t> indptr;
};

// A matrix of given kernel values. Example j of side b is a row of the matrix; example i of side a,
// a training example, is a column. A side with only one of the two roles leaves the other list
// empty.
class GivenTable : public Table {
 public:
  GivenTable(Array<double> matrix, int64_t n, int64_t columns, std::vector<int64_t> rows,
             std::vector<int64_t> ids);
  std::shared_ptr<const Table> subset(IdSpan ids) const override;

  const Array<double> matrix;
  const int64_t n, columns;
  const std::vector<int64_t> rows;  // row of the matrix for each example
  const std::vector<int64_t> ids;   // column of the matrix for each example
};

struct Side {
  int64_t n = 0;
  std::vector<std::shared_ptr<const Table>> tables;
  std::vector<Array<double>> vectors;

  Side subset(IdSpan ids) const;
  // Returns a hash that is equal for equal examples, and different for others but for a chance of
  // 2^-128.
  Fingerprint fingerprint(int64_t i) const;
};

}  // namespace kw

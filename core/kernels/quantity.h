// Shared quantities: functions of a pair of examples, such as the dot product or the squared
// distance, from which all kernels of a family are computed.
//
// A quantity is computed in tiles: some rows (examples of side a) and a range of columns (examples
// of side b). It may have several values for each pair, called planes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/examples.h"

namespace kw {

// Rows of side a, prepared once and read by all tiles and threads.
struct Rows {
  virtual ~Rows() = default;
};

// Rows that need no preparation: a list of examples.
struct ChosenRows : Rows {
  ChosenRows(const Table& table, IdSpan ids) : table(table), ids(ids.begin(), ids.end()) {}

  const Table& table;
  const std::vector<int64_t> ids;
};

// Where the values of a tile are written: row r (counted from the first row of the tile) of plane p
// starts at data + p * plane_stride + r * row_stride.
struct TileOut {
  double* data;
  int64_t row_stride;
  int64_t plane_stride;

  double* row(int64_t r) const { return data + r * row_stride; }
};

// A weight vector sum_r factors[r] phi(row r), in a form that is specific to the quantity.
struct Sums {
  virtual ~Sums() = default;
  // out[p * stride + j - j0] += the value of plane p of the sum at examples [j0, j1) of b.
  virtual void lookup(const Table& b, int64_t j0, int64_t j1, double* out,
                      int64_t stride) const = 0;
};

// The arguments of Quantity::sums.
struct SumRequest {
  IdSpan rows;
  std::span<const double> factors;  // one per row
  int64_t columns;                  // number of examples at which the sum will be evaluated
  int threads;
  const double* planes = nullptr;  // weights that combine all planes into one, or null
};

// Cost of matrix-vector products with the matrix of all examples.
struct ProductCosts {
  bool cheap = false;  // true if a product costs about as much as reading the examples
  int64_t bytes = 0;   // bytes that products keep
  bool fixed = false;  // true if most of the time does not depend on the number of examples
  // With less memory a part is kept, and the rest recomputed in every product.
  bool keeps_parts = false;
};

// The matrices of all examples, one for each plane, as operators on vectors.
struct Product {
  virtual ~Product() = default;
  // Sets the weights with which `add` combines the planes.
  virtual void weigh(const double* planes, int threads) = 0;
  // out[i] += sum_j v[j] * (the weighted sum of planes at j and i).
  virtual void add(const double* v, int threads, double* out) const = 0;
  // out[p] += sum_ij v[i] v[j] * (plane p at i and j).
  virtual void quadratic(const double* v, int threads, double* out) const = 0;
  // out[p * count + r] += sum_j v[j] * (plane p at j and ids[r]), at least for the wanted planes.
  virtual void outputs(const double* v, IdSpan ids, const std::vector<bool>& wanted, int threads,
                       double* out) const = 0;
};

class Quantity {
 public:
  virtual ~Quantity() = default;
  virtual int64_t planes() const { return 1; }
  // Throws if examples of a cannot be compared with examples of b. The other functions rely on it.
  virtual void check(const Table& a, const Table& b) const = 0;
  virtual std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& /*b*/) const {
    return std::make_unique<ChosenRows>(a, rows);
  }
  // Computes rows [r0, r1) of the packed rows against examples [j0, j1) of b. r0 must be a multiple
  // of 32.
  virtual void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0,
                    int64_t j1, TileOut out) const = 0;
  virtual void diagonal(const Table& a, double* out) const = 0;
  // Bytes of one packed row; the caller limits the number of rows packed at a time.
  virtual int64_t row_bytes(const Table& /*a*/) const { return int64_t(sizeof(int64_t)); }
  // Cost of one value, in units of reading one cached value.
  virtual double reads(const Table& a) const = 0;
  // True if `bound(a)` is an upper bound of the absolute values of all pairs of a.
  virtual bool bounded() const { return false; }
  virtual double bound(const Table&) const { return 0.0; }
  // Values of a call with a multiple of this many rows do not depend on which rows these are, to
  // the last bit. BLAS sums up in another order if there are fewer rows.
  virtual int64_t rows_at_once(const Table& /*a*/) const { return 1; }
  virtual bool both_signs() const { return true; }
  virtual bool is_squared_distance() const { return false; }
  // Returns a quantity of one plane, the weighted sum of all planes; null if this is not cheaper
  // than the planes.
  virtual std::shared_ptr<const Quantity> combined(const double* /*planes*/) const {
    return nullptr;
  }
  // True if a row inside a small set is computed fastest as a weight vector of one example.
  virtual bool rows_by_sums(const Table& /*a*/) const { return false; }
  // Returns the sum of rows times factors, or null if evaluating row by row is cheaper.
  virtual std::unique_ptr<Sums> sums(const Table& /*a*/, const SumRequest& /*request*/) const {
    return nullptr;
  }
  // Largest number of normalisations with which sums are cheaper than rows: each needs a sum of its
  // own.
  virtual int64_t most_normalisations() const { return 4; }
  virtual ProductCosts product_costs(const Table& /*a*/) const { return {}; }
  // Returns matrix-vector products with the matrix of all examples; null if they are not cheap. If
  // `room` bytes are too few, tables are read again in every product, and must outlive the result.
  virtual std::unique_ptr<Product> product(const Table& /*a*/, int64_t /*room*/,
                                           int /*threads*/) const {
    return nullptr;
  }
};

// kind: "dot", "sqdist", "l1", "chi2" or "min" on vectors, "given" for given matrices, "identity"
// for example indices.
std::shared_ptr<const Quantity> make_quantity(const std::string& kind);

}  // namespace kw

// Shared quantities: what the kernels of a family have in common for a pair of examples (a dot
// product, a squared distance, ...). A quantity is computed tile by tile: some rows of one side
// against a range of the other side. It may have several planes (one value per plane and pair).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/examples.h"

namespace kw {

// Rows of the first side, prepared once and used by all tiles and threads.
struct Rows {
  virtual ~Rows() = default;
};

// Rows that need no preparation.
struct ChosenRows : Rows {
  ChosenRows(const Table& table, IdSpan ids) : table(table), ids(ids.begin(), ids.end()) {}

  const Table& table;
  const std::vector<int64_t> ids;
};

// Destination of the values of a tile: row r (counted from the first row of the tile) of plane p
// starts at data + p * plane_stride + r * row_stride.
struct TileOut {
  double* data;
  int64_t row_stride;
  int64_t plane_stride;

  double* row(int64_t r) const { return data + r * row_stride; }
};

// Values of some rows, summed up with factors.
struct Sums {
  virtual ~Sums() = default;
  // out[p * stride + j - j0] += the sum of plane p for examples [j0, j1) of b.
  virtual void lookup(const Table& b, int64_t j0, int64_t j1, double* out,
                      int64_t stride) const = 0;
};

// A sum of rows that a quantity is to prepare.
struct SumRequest {
  IdSpan rows;
  std::span<const double> factors;  // one per row
  int64_t columns;                  // number of examples for which it will be looked up
  int threads;
  const double* planes = nullptr;  // weights that combine all planes into one, or null
};

// Cost of products with the matrix of all examples.
struct ProductCosts {
  bool cheap = false;        // a product costs about as much as reading the examples
  int64_t bytes = 0;         // memory that products keep
  bool fixed = false;        // most of the time does not depend on the number of examples
  bool keeps_parts = false;  // they may keep a part of the memory and compute the rest every time
};

// The matrix of all examples for each plane, as an operator on vectors.
struct Product {
  virtual ~Product() = default;
  // Sets the weights of the planes in the matrix that `add` multiplies with.
  virtual void weigh(const double* planes, int threads) = 0;
  // out[i] += the sum over j of v[j] times the weighted value of j and i.
  virtual void add(const double* v, int threads, double* out) const = 0;
  // out[p] += the sum over i and j of v[i] v[j] times the value of plane p.
  virtual void quadratic(const double* v, int threads, double* out) const = 0;
  // out[p * count + r] += the sum over j of v[j] times the value of plane p for j and ids[r], of
  // all planes or at least of those that are wanted.
  virtual void outputs(const double* v, IdSpan ids, const std::vector<bool>& wanted, int threads,
                       double* out) const = 0;
};

class Quantity {
 public:
  virtual ~Quantity() = default;
  virtual int64_t planes() const { return 1; }
  // Throws where examples of a cannot be compared with examples of b. All else relies on it.
  virtual void check(const Table& a, const Table& b) const = 0;
  virtual std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& /*b*/) const {
    return std::make_unique<ChosenRows>(a, rows);
  }
  // Rows [r0, r1) of the pack against examples [j0, j1) of b. r0 is a multiple of 32.
  virtual void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0,
                    int64_t j1, TileOut out) const = 0;
  virtual void diagonal(const Table& a, double* out) const = 0;
  // Bytes of one packed row; a caller packs so few rows at a time that they fit in memory.
  virtual int64_t row_bytes(const Table& /*a*/) const { return int64_t(sizeof(int64_t)); }
  // Cost of a value, in units of reading one value from a long row.
  virtual double reads(const Table& a) const = 0;
  // True if `bound` bounds the absolute values.
  virtual bool bounded() const { return false; }
  virtual double bound(const Table&) const { return 0.0; }
  virtual bool both_signs() const { return true; }
  virtual bool is_squared_distance() const { return false; }
  // The quantity of one plane that is the sum of all planes with these weights, where it is cheaper
  // than its parts; null otherwise.
  virtual std::shared_ptr<const Quantity> combined(const double* /*planes*/) const {
    return nullptr;
  }
  // True if single rows inside a small set are cheapest as sums of one row each.
  virtual bool rows_by_sums(const Table& /*a*/) const { return false; }
  // The sum of rows times their factors, or null if evaluating row by row is cheaper.
  virtual std::unique_ptr<Sums> sums(const Table& /*a*/, const SumRequest& /*request*/) const {
    return nullptr;
  }
  // Largest number of normalisations with which sums are cheaper than rows: each needs its own
  // sums.
  virtual int64_t most_normalisations() const { return 4; }
  virtual ProductCosts product_costs(const Table& /*a*/) const { return {}; }
  // Products with the matrix of all examples, or null if they are not cheap. If `room` bytes are
  // enough for a part only, they read the table again: it must outlive them.
  virtual std::unique_ptr<Product> product(const Table& /*a*/, int64_t /*room*/,
                                           int /*threads*/) const {
    return nullptr;
  }
};

// kind: "dot", "sqdist", "l1", "chi2", "min" on vectors, "given" on given similarities,
// "identity" on numbers of examples.
std::shared_ptr<const Quantity> make_quantity(const std::string& kind);

}  // namespace kw

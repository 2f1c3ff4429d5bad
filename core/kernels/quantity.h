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

// Where the values of a tile go: row r (counted from the first row of the tile) of plane p starts
// at data + p * plane_stride + r * row_stride.
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

// All values of some examples with each other: a matrix for each plane, as what it makes of
// vectors.
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
  virtual void outputs(const double* v, const int64_t* ids, int64_t count,
                       const std::vector<bool>& wanted, int threads, double* out) const = 0;
};

class Quantity {
 public:
  virtual ~Quantity() = default;
  virtual int64_t planes() const { return 1; }
  // Throws where examples of a cannot be compared with examples of b. All else relies on it.
  virtual void check(const Table& a, const Table& b) const = 0;
  virtual std::unique_ptr<Rows> pack(const Table& a, const int64_t* rows, int64_t count,
                                     const Table& b) const = 0;
  // Rows [r0, r1) of the pack against examples [j0, j1) of b. r0 is a multiple of 32.
  virtual void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0,
                    int64_t j1, TileOut out) const = 0;
  virtual void diagonal(const Table& a, double* out) const = 0;
  // Bytes of one packed row; a caller packs so few rows at a time that they fit in memory.
  virtual int64_t row_bytes(const Table& a) const = 0;
  // The time that a value takes, in values that are read from a long row meanwhile.
  virtual double reads(const Table& a) const = 0;
  // Whether `bound` tells how large values can become in size.
  virtual bool bounded() const { return false; }
  virtual double bound(const Table&) const { return 0.0; }
  virtual bool both_signs() const { return true; }
  virtual bool is_squared_distance() const { return false; }
  // The quantity of one plane that is the sum of all planes with these weights, where it is cheaper
  // than its parts; null otherwise.
  virtual std::shared_ptr<const Quantity> combined(const double* /*planes*/) const {
    return nullptr;
  }
  // Whether single rows inside a small set are cheapest as sums of one row each.
  virtual bool rows_by_sums(const Table& /*a*/) const { return false; }
  // The sum of factors[r] times row rows[r], for `columns` examples to come, where that is cheaper
  // than row by row; null otherwise. planes: weights that combine all planes into one, or null.
  virtual std::unique_ptr<Sums> sums(const Table& /*a*/, const int64_t* /*rows*/,
                                     const double* /*factors*/, int64_t /*count*/,
                                     int64_t /*columns*/, int /*threads*/,
                                     const double* /*planes*/) const {
    return nullptr;
  }
  // Normalisations at most with which sums are cheaper than rows: each costs sums of its own.
  virtual int64_t most_normalisations() const { return 4; }
  // Whether products with the values of all examples cost about as much as reading the examples.
  virtual bool multiplies(const Table& /*a*/) const { return false; }
  // What such products keep in memory.
  virtual int64_t product_bytes(const Table& /*a*/) const { return 0; }
  // Whether most of the time of a product does not depend on the number of examples.
  virtual bool product_is_fixed(const Table& /*a*/) const { return false; }
  // Whether they may keep a part of that, and make the rest anew for every product.
  virtual bool keeps_parts() const { return false; }
  // These products; null where they do not. Where there is room for a part they read the table
  // again, which must live as long.
  virtual std::unique_ptr<Product> product(const Table& /*a*/, int64_t /*room*/,
                                           int /*threads*/) const {
    return nullptr;
  }
};

// kind: "dot", "sqdist", "l1", "chi2", "min" on vectors, "given" on given similarities,
// "identity" on numbers of examples.
std::shared_ptr<const Quantity> make_quantity(const std::string& kind);

}  // namespace kw

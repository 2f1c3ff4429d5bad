// The kernel that is 1 for an example and itself, and 0 otherwise.
#pragma once
#include "kernels/quantity.h"

namespace kw {

// Which training example each one is; -1 for others, which equal none.
class IdTable : public Table {
 public:
  explicit IdTable(std::vector<int64_t> ids) : ids(std::move(ids)) {}
  std::shared_ptr<const Table> subset(const int64_t* chosen, int64_t count) const override;

  const std::vector<int64_t> ids;
};

class Identity : public Quantity {
 public:
  explicit Identity(double scale = 1.0) : scale_(scale) {}

  void check(const Table& a, const Table& b) const override;
  std::unique_ptr<Rows> pack(const Table& a, const int64_t* rows, int64_t count,
                             const Table& b) const override;
  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override;
  void diagonal(const Table& a, double* out) const override;
  int64_t row_bytes(const Table&) const override { return int64_t(sizeof(int64_t)); }
  double reads(const Table&) const override { return 0.0; }
  std::shared_ptr<const Quantity> combined(const double* planes) const override;
  std::unique_ptr<Sums> sums(const Table& a, const int64_t* rows, const double* factors,
                             int64_t count, int64_t columns, int threads,
                             const double* planes) const override;
  bool multiplies(const Table&) const override { return true; }
  std::unique_ptr<Product> product(const Table& a, int64_t room, int threads) const override;

 private:
  const double scale_;
};

}  // namespace kw

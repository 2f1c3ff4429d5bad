// The inner sum of the locality-improved kernel (Zien et al., 2000):
//
//   sum_p (1 / (2 l + 1) sum_{|j| <= l} I(x_{p+j} = y_{p+j}))^d
//
// over the positions p whose window of 2 l + 1 letters lies inside the sequences.
#pragma once
#include "kernels/quantity.h"
#include "strings/plane_table.h"

namespace kw {

class LocalityKernel : public Quantity {
 public:
  static constexpr int64_t kMaxWindow = 63;

  LocalityKernel(int64_t half_window, int64_t degree);

  void check(const Table& a, const Table& b) const override;
  std::unique_ptr<Rows> pack(const Table& a, const int64_t* rows, int64_t count,
                             const Table& b) const override;
  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override;
  void diagonal(const Table& a, double* out) const override;
  int64_t row_bytes(const Table&) const override { return int64_t(sizeof(int64_t)); }
  double reads(const Table&) const override { return 100.0; }

 private:
  double value(const PlaneTable& a, int64_t i, const PlaneTable& b, int64_t j) const;

  const int64_t window_;
  std::vector<double> powers_;  // of the share of matches in a window
};

}  // namespace kw

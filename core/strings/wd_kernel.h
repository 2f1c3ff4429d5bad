// The weighted degree kernel (Raetsch and Sonnenburg, 2004) and its variant with shifts (Raetsch et
// al., 2005):
//
//   k(x, y) = sum_{k=1..d} beta_k sum_i I(u_{k,i}(x) = u_{k,i}(y))
//           + sum_{s=1..S} 1 / (2 (s + 1)) sum_k beta_k sum_i I(u_{k,i+s}(x) = u_{k,i}(y)) +
//           I(u_{k,i}(x) = u_{k,i+s}(y))
//
// where u_{k,i}(x) are the k letters of x from position i, all of them inside x, and S may depend
// on i. Matches may also count by their position, the first one of the two if these differ. A pair
// of sequences costs about one operation on 64 letters per degree and shift (simd/wd.h).
#pragma once
#include <concepts>

#include "kernels/quantity.h"
#include "simd/wd.h"
#include "stores/kmer_store.h"
#include "strings/plane_table.h"

namespace kw {

struct WdParameters {
  std::vector<double> weights;  // beta, one per degree
  std::vector<int64_t> shifts;  // S for each position; empty: no shifts
  WdValue value = WdValue::kSum;
  StoreKind store = StoreKind::kAuto;  // how sums of rows are computed: kAuto, kRows or kTrie
  std::vector<double> places;          // length x degree: factors of matches by position; empty: 1
  // With kPositions, the plane of each position, or -1 for none; empty: position p has plane p.
  std::vector<int64_t> groups;

  int64_t degree() const { return static_cast<int64_t>(weights.size()); }
  int64_t largest_shift() const;
  bool uniform_shift() const;
  double shift_weight(int64_t shift) const;
  // The weight of a match of k + 1 letters at position p, without a shift.
  double weight(int64_t p, int64_t k) const {
    return places.empty() ? weights[k] : weights[k] * places[p * degree() + k];
  }
  // True if a match may start at position i of the sequence that is shifted back by |shift|.
  bool allows(int64_t i, int64_t shift) const;
};

class WdKernel : public StoredQuantity {
 public:
  WdKernel(WdParameters parameters, int64_t length);

  int64_t planes() const override;
  void check(const Table& a, const Table& b) const override;
  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& b) const override;
  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override;
  void diagonal(const Table& a, double* out) const override;
  int64_t row_bytes(const Table& a) const override;
  double reads(const Table& a) const override;
  std::shared_ptr<const Quantity> combined(const double* planes) const override;
  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override;
  std::unique_ptr<Store> make_store(int64_t letters) const override;
  ProductCosts product_costs(const Table& a) const override;
  std::unique_ptr<Product> product(const Table& a, int64_t room, int threads) const override;

  int64_t n_passes() const { return int64_t(passes_.size()); }
  // The plane to which a match of k + 1 letters at position p belongs; -1: none.
  int64_t plane_of(int64_t p, int64_t k) const;

  const WdParameters parameters;
  const int64_t length;

 private:
  // True if the weight of a match depends on its position.
  bool positional() const;
  double pair_cost() const;
  void weigh_places();
  void mark_starts();
  void check_size() const;
  WdTile describe(const PlaneTable& b) const;
  void diagonal_of_sum(const PlaneTable& a, double* out) const;
  // Packs a row under each shift of passes [s0, s1).
  void shift_row(const PlaneTable& a, const uint64_t* row, int64_t s0, int64_t s1,
                 uint64_t* out) const;
  // Computes a tile, a few passes at a time; shifted(s0, s1) returns the rows under these shifts.
  template <std::invocable<int64_t, int64_t> Shifted>
  void run_passes(WdTile tile, Shifted&& shifted) const;

  std::vector<int64_t> passes_;   // shifts of the row: 0, 1, -1, 2, -2, ...
  std::vector<double> weights_;   // passes * degree
  std::vector<double> places_;    // passes * degree * length, if weights depend on the position
  std::vector<double> sums_;      // passes * degree * words * kWdPlaceSums: sums of places_
  std::vector<int64_t> planes_;   // plane of each position, from -largest_shift() on
  std::vector<uint64_t> starts_;  // passes * words, if shifts depend on the position
};

}  // namespace kw

#include "kernels/identity.h"

#include <algorithm>
#include <unordered_map>

#include "simd/simd.h"

namespace kw {
namespace {

const std::vector<int64_t>& ids_of(const Table& table) { return table_as<IdTable>(table).ids; }

struct IdSums : Sums {
  std::unordered_map<int64_t, double> sums;

  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t) const override {
    for (int64_t j = j0; j < j1; ++j)
      if (const auto found = sums.find(ids_of(b)[j]); found != sums.end())
        out[j - j0] += found->second;
  }
};

// All examples of one set differ, so that the matrix is a multiple of the identity.
struct IdProduct : Product {
  IdProduct(int64_t n, double scale) : n(n), scale(scale) {}

  void weigh(const double* planes, int) override { weight = scale * planes[0]; }
  void add(const double* v, int, double* out) const override { simd().axpy(weight, v, out, n); }
  void quadratic(const double* v, int, double* out) const override {
    out[0] += scale * simd().dot(v, v, n);
  }
  void outputs(const double* v, IdSpan ids, const std::vector<bool>&, int,
               double* out) const override {
    for (size_t r = 0; r < ids.size(); ++r) out[r] += scale * v[ids[r]];
  }

  const int64_t n;
  const double scale;
  double weight = 0.0;
};

class Identity : public Quantity {
 public:
  explicit Identity(double scale = 1.0) : scale_(scale) {}

  void check(const Table& a, const Table& b) const override { ids_of(a), ids_of(b); }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& pack = static_cast<const ChosenRows&>(rows);
    const std::vector<int64_t>&own = ids_of(pack.table), &others = ids_of(b);
    for (int64_t r = r0; r < r1; ++r) {
      const int64_t id = own[pack.ids[r]];
      for (int64_t j = j0; j < j1; ++j)
        out.row(r - r0)[j - j0] = id >= 0 && id == others[j] ? scale_ : 0.0;
    }
  }

  void diagonal(const Table& a, double* out) const override {
    std::fill_n(out, ids_of(a).size(), scale_);
  }

  double reads(const Table&) const override { return 0.0; }

  std::shared_ptr<const Quantity> combined(const double* planes) const override {
    return std::make_shared<Identity>(scale_ * planes[0]);
  }

  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override {
    auto sums = std::make_unique<IdSums>();
    const double scale = scale_ * (request.planes ? request.planes[0] : 1.0);
    for (size_t r = 0; r < request.rows.size(); ++r)
      if (const int64_t id = ids_of(a)[request.rows[r]]; id >= 0)
        sums->sums[id] += scale * request.factors[r];
    return sums;
  }

  ProductCosts product_costs(const Table&) const override { return {.cheap = true}; }

  std::unique_ptr<Product> product(const Table& a, int64_t, int) const override {
    return std::make_unique<IdProduct>(int64_t(ids_of(a).size()), scale_);
  }

 private:
  const double scale_;
};

}  // namespace

std::shared_ptr<const Table> IdTable::subset(IdSpan chosen) const {
  return std::make_shared<IdTable>(gather(ids.data(), chosen));
}

std::shared_ptr<const Quantity> identity() { return std::make_shared<Identity>(); }

}  // namespace kw

#include "kernels/quantity.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/identity.h"
#include "kernels/vector_sums.h"
#include "simd/simd.h"
#include "system/blas.h"

namespace kw {
namespace {

const VectorTable& vectors(const Table& table) { return table_as<VectorTable>(table); }

void check_vectors(const Table& a, const Table& b) {
  if (vectors(a).d != vectors(b).d)
    throw std::invalid_argument("the two sets of examples differ in their number of columns");
}

// Rows as dense vectors. If columns are dense, one vector after the other; if they are sparse, in
// panels: feature by feature, with the values of `width` rows side by side.
struct VectorRows : Rows {
  std::vector<double> values;
  std::vector<double> norms;
  std::vector<int64_t> ids;
  int64_t width = 0;  // width of a panel; 0: no panels
  bool same = false;  // rows and columns are the same examples
};

// Number of features beyond which sparse rows stay sparse in a block.
constexpr int64_t kDensePanel = 4096;
// A panel should stay in the second-level cache while all columns are visited. Few rows use narrow
// panels, which have less padding.
int64_t panel_width(int64_t d, int64_t count) { return d <= 16384 && count > 8 ? 32 : 8; }

std::unique_ptr<VectorRows> pack_vectors(const Table& a, IdSpan rows, const Table& b, bool panels) {
  const VectorTable& table = vectors(a);
  const int64_t count = int64_t(rows.size());
  auto pack = std::make_unique<VectorRows>();
  pack->same = &a == &b;
  pack->ids.assign(rows.begin(), rows.end());
  pack->norms.resize(count);
  pack->width = panels ? panel_width(table.d, count) : 0;
  const int64_t padded = panels ? (count + pack->width - 1) / pack->width * pack->width : count;
  pack->values.assign(padded * table.d, 0.0);
  std::vector<double> row(table.d);
  for (int64_t r = 0; r < count; ++r) {
    pack->norms[r] = table.norms[rows[r]];
    if (!panels) {
      table.unpack(rows[r], pack->values.data() + r * table.d);
      continue;
    }
    table.unpack(rows[r], row.data());
    double* panel = pack->values.data() + r / pack->width * pack->width * table.d;
    for (int64_t f = 0; f < table.d; ++f) panel[f * pack->width + r % pack->width] = row[f];
  }
  return pack;
}

class Dot : public Quantity {
 public:
  void check(const Table& a, const Table& b) const override { check_vectors(a, b); }

  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& b) const override {
    return pack_vectors(a, rows, b, vectors(b).sparse());
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& pack = static_cast<const VectorRows&>(rows);
    if (pack.width)
      return sparse_tile(pack, r0, r1, static_cast<const SparseTable&>(b), j0, j1, out);
    const auto& table = static_cast<const DenseTable&>(b);
    dot_products(pack.values.data() + r0 * table.d, table.x.data + j0 * table.d, r1 - r0, j1 - j0,
                 table.d, out.data, out.row_stride);
  }

  int64_t rows_at_once(const Table& a) const override { return vectors(a).sparse() ? 1 : 8; }

  void diagonal(const Table& a, double* out) const override {
    std::copy(vectors(a).norms.begin(), vectors(a).norms.end(), out);
  }

  int64_t row_bytes(const Table& a) const override {
    return vectors(a).d * int64_t(sizeof(double));
  }
  double reads(const Table& a) const override {
    const double dense = double(vectors(a).d) / 16.0;
    const auto* sparse = dynamic_cast<const SparseTable*>(&a);
    if (!sparse || sparse->d > kDensePanel || sparse->n == 0) return dense;
    return std::min(dense, double(sparse->indptr[sparse->n]) / double(sparse->n) / 8.0);
  }
  bool bounded() const override { return true; }
  double bound(const Table& a) const override { return largest_norm(a); }

 protected:
  static double largest_norm(const Table& a) {
    double largest = 0.0;
    for (double norm : vectors(a).norms) largest = std::max(largest, norm);
    return largest;
  }

  // Panels of dense rows would contain mostly zeros.
  bool rows_by_sums(const Table& a) const override {
    return vectors(a).sparse() && vectors(a).d > kDensePanel;
  }

  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override {
    if (!request.planes) return sum_vectors(vectors(a), request.rows, request.factors);
    std::vector<double> scaled(request.factors.begin(), request.factors.end());
    for (double& factor : scaled) factor *= request.planes[0];
    return sum_vectors(vectors(a), request.rows, scaled);
  }

 private:
  static void sparse_tile(const VectorRows& pack, int64_t r0, int64_t r1, const SparseTable& b,
                          int64_t j0, int64_t j1, TileOut out) {
    std::vector<double> padded;  // a panel with fewer rows than its width, padded
    for (int64_t r = r0; r < r1; r += pack.width) {
      const double* panel = pack.values.data() + r * b.d;
      const bool whole = r + pack.width <= r1;
      if (!whole) padded.resize(pack.width * out.row_stride);
      double* target = whole ? out.row(r - r0) : padded.data();
      simd().sparse_panel(panel, pack.width, b.data.data, b.indices.data, b.indptr.data, j0, j1,
                          target, out.row_stride);
      if (whole) continue;
      for (int64_t s = r; s < r1; ++s)
        std::copy_n(padded.data() + (s - r) * out.row_stride, j1 - j0, out.row(s - r0));
    }
  }
};

class SquaredDistance : public Dot {
 public:
  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    Dot::tile(rows, r0, r1, b, j0, j1, out);
    const auto& pack = static_cast<const VectorRows&>(rows);
    const double* norms = vectors(b).norms.data() + j0;
    for (int64_t r = r0; r < r1; ++r) {
      simd().sqdist(pack.norms[r], norms, out.row(r - r0), j1 - j0);
      const int64_t self = pack.ids[r];
      if (pack.same && j0 <= self && self < j1) out.row(r - r0)[self - j0] = 0.0;
    }
  }

  // The diagonal is 0, or NaN for vectors whose distances may overflow.
  void diagonal(const Table& a, double* out) const override {
    for (double norm : vectors(a).norms) *out++ = 4.0 * norm - 4.0 * norm;
  }
  double bound(const Table& a) const override { return 4.0 * largest_norm(a); }
  bool both_signs() const override { return false; }
  bool is_squared_distance() const override { return true; }

  std::unique_ptr<Sums> sums(const Table&, const SumRequest&) const override {
    return nullptr;  // a distance is not linear in its second argument
  }
  bool rows_by_sums(const Table&) const override { return false; }
};

// Sums over features of a function of two values, between dense rows and columns that are
// transposed to feature order.
class FeatureSum : public Quantity {
 public:
  enum Kind { kL1, kChi2, kMinimum };
  explicit FeatureSum(Kind kind) : kind_(kind) {}

  void check(const Table& a, const Table& b) const override { check_vectors(a, b); }

  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& b) const override {
    return pack_vectors(a, rows, b, false);
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& pack = static_cast<const VectorRows&>(rows);
    const VectorTable& table = vectors(b);
    const int64_t d = table.d,
                  width = std::max<int64_t>(1, std::min<int64_t>(j1 - j0, kValues / d));
    std::vector<double> columns(d * width), one(d);
    for (int64_t j = j0; j < j1; j += width) {
      const int64_t n = std::min(width, j1 - j);
      for (int64_t k = 0; k < n; ++k) {
        table.unpack(j + k, one.data());
        for (int64_t f = 0; f < d; ++f) columns[f * n + k] = one[f];
      }
      for (int64_t r = r0; r < r1; ++r)
        loop()(pack.values.data() + r * d, columns.data(), d, n, out.row(r - r0) + (j - j0));
    }
  }

  void diagonal(const Table& a, double* out) const override {
    const VectorTable& table = vectors(a);
    std::vector<double> one(table.d);
    for (int64_t i = 0; i < table.n; ++i) {
      table.unpack(i, one.data());
      loop()(one.data(), one.data(), table.d, 1, out + i);
    }
  }

  int64_t row_bytes(const Table& a) const override {
    return vectors(a).d * int64_t(sizeof(double));
  }
  double reads(const Table& a) const override { return double(vectors(a).d) / 4.0; }

 private:
  using Loop = void (*)(const double*, const double*, int64_t, int64_t, double*);
  static constexpr int64_t kValues = 1 << 17;  // values transposed at a time: 1 MB

  Loop loop() const {
    if (kind_ == kL1) return simd().l1;
    return kind_ == kChi2 ? simd().chi2 : simd().minimum;
  }

  const Kind kind_;
};

bool lie_below(const std::vector<int64_t>& ids, int64_t end) {
  return std::all_of(ids.begin(), ids.end(), [&](int64_t id) { return id >= 0 && id < end; });
}

class Given : public Quantity {
 public:
  void check(const Table& first, const Table& second) const override {
    const GivenTable &a = table_as<GivenTable>(first), &b = table_as<GivenTable>(second);
    if (a.n == 0 || b.n == 0) return;
    if (a.ids.empty() || b.rows.empty() || !lie_below(a.ids, b.columns))
      throw std::invalid_argument("the given similarities are not those to the training examples");
    if (a.matrix.data == b.matrix.data && (a.rows.empty() || !lie_below(b.ids, a.columns)))
      throw std::invalid_argument("the given similarities are not those of the training examples");
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& columns, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& pack = static_cast<const ChosenRows&>(rows);
    const auto& a = table_as<GivenTable>(pack.table);
    const auto& b = table_as<GivenTable>(columns);
    // Training matrices are symmetric; then rows are read along memory.
    const bool symmetric = a.matrix.data == b.matrix.data;
    for (int64_t r = r0; r < r1; ++r) {
      const int64_t i = pack.ids[r];
      double* values = out.row(r - r0);
      if (symmetric) {
        const double* row = a.matrix.data + a.rows[i] * a.columns;
        for (int64_t j = j0; j < j1; ++j) values[j - j0] = row[b.ids[j]];
      } else {
        const double* column = b.matrix.data + a.ids[i];
        for (int64_t j = j0; j < j1; ++j) values[j - j0] = column[b.rows[j] * b.columns];
      }
    }
  }

  void diagonal(const Table& a, double* out) const override {
    const auto& table = table_as<GivenTable>(a);
    for (size_t i = 0; i < table.rows.size(); ++i)
      out[i] = table.matrix[table.rows[i] * table.columns + table.ids[i]];
  }

  double reads(const Table&) const override { return 0.0; }
};

}  // namespace

std::shared_ptr<const Quantity> make_quantity(const std::string& kind) {
  if (kind == "dot") return std::make_shared<Dot>();
  if (kind == "sqdist") return std::make_shared<SquaredDistance>();
  if (kind == "l1") return std::make_shared<FeatureSum>(FeatureSum::kL1);
  if (kind == "chi2") return std::make_shared<FeatureSum>(FeatureSum::kChi2);
  if (kind == "min") return std::make_shared<FeatureSum>(FeatureSum::kMinimum);
  if (kind == "given") return std::make_shared<Given>();
  if (kind == "identity") return identity();
  throw std::invalid_argument("unknown shared quantity: " + kind);
}

}  // namespace kw

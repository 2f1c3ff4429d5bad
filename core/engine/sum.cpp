#include "engine/sum.h"

#include <algorithm>
#include <vector>

#include "engine/evaluate.h"
#include "engine/sweep.h"

namespace kw {
namespace {

// Cost of one kernel evaluation, in units of reading one cached value.
constexpr double kReads = 4.0;

// A whole side (tables and normalisations) as the one table that the sum of kernels reads.
class SideTable : public Table {
 public:
  explicit SideTable(Side side) : side(std::move(side)) {}

  std::shared_ptr<const Table> subset(IdSpan ids) const override {
    return std::make_shared<SideTable>(side.subset(ids));
  }

  const Side side;
};

const Side& side_of(const Table& table) { return table_as<SideTable>(table).side; }

struct PartRows : Rows {
  PartRows(const Program& program, const Side& a, IdSpan rows, const Side& b)
      : a(a), examples(rows.begin(), rows.end()), packed(program, a, rows, b) {}

  const Side& a;
  const std::vector<int64_t> examples;
  const PackedRows packed;
};

class Sum : public Quantity {
 public:
  explicit Sum(std::shared_ptr<const Program> parts) : parts_(std::move(parts)) {}

  void check(const Table& a, const Table& b) const override {
    parts_->check(side_of(a), side_of(b));
  }

  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table& b) const override {
    return std::make_unique<PartRows>(*parts_, side_of(a), rows, side_of(b));
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const PartRows& part = static_cast<const PartRows&>(rows);
    const int64_t n = j1 - j0, count = r1 - r0, planes = parts_->n_planes();
    const auto values = std::make_unique_for_overwrite<double[]>(planes * count * n);
    const auto stack = std::make_unique_for_overwrite<double[]>(parts_->stack_size() * n);
    part.packed.fill(r0, r1, j0, j1, values.get());
    Planes row(planes);
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t p = 0; p < planes; ++p) row.set(p, values.get() + (p * count + r) * n);
      double* sum = out.row(r);
      std::fill_n(sum, n, 0.0);
      parts_->run(parts_->groups(), row.view(part.a, side_of(b), part.examples[r0 + r], j0, n),
                  stack.get(),
                  [&](int64_t, const double* kernel) { simd().axpy(1.0, kernel, sum, n); });
    }
  }

  void diagonal(const Table& a, double* out) const override {
    const Side& side = side_of(a);
    std::vector<double> each(parts_->n_kernels() * side.n);
    kw::diagonal(*parts_, side, each.data());
    for (int64_t i = 0; i < side.n; ++i) {
      out[i] = 0.0;
      for (int64_t m = 0; m < parts_->n_kernels(); ++m) out[i] += each[m * side.n + i];
    }
  }

  int64_t row_bytes(const Table& a) const override {
    int64_t bytes = 0;
    for_each_source(a, [&](const Quantity& q, const Table& t) { bytes += q.row_bytes(t); });
    return bytes;
  }

  double reads(const Table& a) const override {
    double reads = kReads * double(parts_->n_kernels());
    for_each_source(
        a, [&](const Quantity& q, const Table& t) { reads += double(q.planes()) * q.reads(t); });
    return reads;
  }

 private:
  template <std::invocable<const Quantity&, const Table&> Visit>
  void for_each_source(const Table& a, Visit&& visit) const {
    for (size_t s = 0; s < parts_->sources().size(); ++s)
      visit(*parts_->sources()[s], *side_of(a).tables[s]);
  }

  std::shared_ptr<const Program> parts_;
};

}  // namespace

Program sum_of(std::shared_ptr<const Program> parts) {
  Program program;
  program.push(Op::Copy, program.source(std::make_shared<Sum>(std::move(parts))));
  program.push(Op::Out, 0);
  program.end_group();
  return program;
}

Side examples_of_sum(Side parts) {
  Side side;
  side.n = parts.n;
  side.tables.push_back(std::make_shared<SideTable>(std::move(parts)));
  return side;
}

}  // namespace kw

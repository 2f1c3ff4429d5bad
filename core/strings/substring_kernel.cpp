#include "strings/substring_kernel.h"

#include <algorithm>

#include "stores/suffix_store.h"
#include "strings/sequence_table.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int kGroupRows = 16;  // rows compared with a column at once
using GroupWeights = SubstringWeights<kGroupRows>;

struct SubstringRows : Rows {
  std::vector<GroupWeights> groups;
};

GroupWeights group_of(const SequenceView& view, IdSpan rows,
                      const std::shared_ptr<const LengthWeights>& lengths) {
  std::vector<uint8_t> texts;
  std::vector<int64_t> ends = {0};
  for (int64_t row : rows) {
    append_text(view, row, texts);
    ends.push_back(int64_t(texts.size()));
  }
  GroupWeights weights(lengths, std::move(texts));
  for (size_t r = 0; r < rows.size(); ++r) weights.add(ends[r], ends[r + 1], int(r), 1.0);
  weights.finish();
  check_interrupt();
  return weights;
}

double first_length(const Table& a) {
  const SequenceView& view = sequences_of(a);
  return view.n ? double(view.length_of(0)) : 0.0;
}

// Nanoseconds per letter, estimated from benchmarks/strings_stores.py: comparing a column with a
// group of rows, look-up in a store, and adding to it.
constexpr double kCompared = 150.0, kLookedUp = 100.0, kAdded = 200.0;

class SubstringKernel : public StoredQuantity {
 public:
  SubstringKernel(int letters, std::shared_ptr<const LengthWeights> lengths, StoreKind store,
                  double scale)
      : letters_(letters), lengths_(std::move(lengths)), store_(store), scale_(scale) {}

  void check(const Table& a, const Table& b) const override {
    check_alphabet(a, b, uint64_t(letters_));
  }

  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table&) const override {
    auto pack = std::make_unique<SubstringRows>();
    for (size_t r = 0; r < rows.size(); r += kGroupRows)
      pack->groups.push_back(
          group_of(sequences_of(a), rows.subspan(r, std::min<size_t>(kGroupRows, rows.size() - r)),
                   lengths_));
    return pack;
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& groups = static_cast<const SubstringRows&>(rows).groups;
    thread_local std::vector<uint8_t> texts;
    for (int64_t j = j0; j < j1; ++j) {
      texts.clear();
      append_text(sequences_of(b), j, texts);
      for (int64_t r = r0; r < r1; r += kGroupRows) {
        const GroupWeights::Sum found = groups[size_t(r / kGroupRows)].sum(texts);
        for (int64_t s = r; s < std::min<int64_t>(r + kGroupRows, r1); ++s)
          out.row(s - r0)[j - j0] = scale_ * found[size_t(s - r)];
      }
      check_interrupt();
    }
  }

  void diagonal(const Table& a, double* out) const override {
    std::vector<uint8_t> texts;
    for (int64_t i = 0; i < sequences_of(a).n; ++i) {
      texts.clear();
      append_text(sequences_of(a), i, texts);
      SubstringWeights<1> own(lengths_, texts);
      own.add(0, int64_t(texts.size()), 0, 1.0);
      own.finish();
      out[i] = scale_ * own.sum(texts)[0];
      check_interrupt();
    }
  }

  // At most three numbers per letter and row, and the index.
  int64_t row_bytes(const Table& a) const override {
    return int64_t((3.0 * kGroupRows * sizeof(double) + 16.0) * first_length(a));
  }

  double reads(const Table& a) const override { return kCompared * first_length(a) / kGroupRows; }

  std::shared_ptr<const Quantity> combined(const double* planes) const override {
    return std::make_shared<SubstringKernel>(letters_, lengths_, store_, scale_ * planes[0]);
  }

  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override {
    const int64_t count = int64_t(request.rows.size());
    if (store_ == StoreKind::kRows) return nullptr;
    if (store_ == StoreKind::kAuto && !worth_a_store(a, count, request.columns)) return nullptr;
    std::vector<double> scaled(request.factors.begin(), request.factors.end());
    for (double& factor : scaled) factor *= scale_ * (request.planes ? request.planes[0] : 1.0);
    auto sums = make_store(0);
    sums->add(a, request.rows, scaled);
    sums->prepare(request.threads);
    return sums;
  }

  std::unique_ptr<Store> make_store(int64_t) const override {
    return std::make_unique<SuffixStore>(letters_, lengths_);
  }

 private:
  bool worth_a_store(const Table& a, int64_t count, int64_t columns) const {
    const double length = first_length(a), groups = double((count + kGroupRows - 1) / kGroupRows);
    const double by_store = length * (kAdded * double(count) + kLookedUp * double(columns));
    const double by_rows = length * groups * (kAdded * kGroupRows + kCompared * double(columns));
    return by_store < by_rows;
  }

  const int letters_;
  const std::shared_ptr<const LengthWeights> lengths_;
  const StoreKind store_;
  const double scale_;
};

}  // namespace

std::shared_ptr<const StoredQuantity> substring_kernel(int letters, std::vector<double> weights,
                                                       StoreKind store) {
  return std::make_shared<SubstringKernel>(
      letters, std::make_shared<LengthWeights>(std::move(weights)), store, 1.0);
}

}  // namespace kw

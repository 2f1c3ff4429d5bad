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

}  // namespace

void SubstringKernel::check(const Table& a, const Table& b) const {
  check_alphabet(a, b, uint64_t(letters));
}

std::unique_ptr<Rows> SubstringKernel::pack(const Table& a, IdSpan rows, const Table&) const {
  auto pack = std::make_unique<SubstringRows>();
  for (size_t r = 0; r < rows.size(); r += kGroupRows)
    pack->groups.push_back(group_of(
        sequences_of(a), rows.subspan(r, std::min<size_t>(kGroupRows, rows.size() - r)), lengths));
  return pack;
}

void SubstringKernel::tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0,
                           int64_t j1, TileOut out) const {
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

void SubstringKernel::diagonal(const Table& a, double* out) const {
  std::vector<uint8_t> texts;
  for (int64_t i = 0; i < sequences_of(a).n; ++i) {
    texts.clear();
    append_text(sequences_of(a), i, texts);
    SubstringWeights<1> own(lengths, texts);
    own.add(0, int64_t(texts.size()), 0, 1.0);
    own.finish();
    out[i] = scale_ * own.sum(texts)[0];
    check_interrupt();
  }
}

// At most three numbers per letter and row, and the index.
int64_t SubstringKernel::row_bytes(const Table& a) const {
  return int64_t((3.0 * kGroupRows * sizeof(double) + 16.0) * first_length(a));
}

double SubstringKernel::reads(const Table& a) const {
  return kCompared * first_length(a) / kGroupRows;
}

std::shared_ptr<const Quantity> SubstringKernel::combined(const double* planes) const {
  return std::make_shared<SubstringKernel>(letters, lengths, store, scale_ * planes[0]);
}

bool SubstringKernel::worth_a_store(const Table& a, int64_t count, int64_t columns) const {
  const double length = first_length(a), groups = double((count + kGroupRows - 1) / kGroupRows);
  const double by_store = length * (kAdded * double(count) + kLookedUp * double(columns));
  const double by_rows = length * groups * (kAdded * kGroupRows + kCompared * double(columns));
  return by_store < by_rows;
}

std::unique_ptr<Sums> SubstringKernel::sums(const Table& a, const SumRequest& request) const {
  const int64_t count = int64_t(request.rows.size());
  if (store == StoreKind::kRows) return nullptr;
  if (store == StoreKind::kAuto && !worth_a_store(a, count, request.columns)) return nullptr;
  std::vector<double> scaled(request.factors.begin(), request.factors.end());
  for (double& factor : scaled) factor *= scale_ * (request.planes ? request.planes[0] : 1.0);
  auto sums = std::make_unique<SuffixStore>(letters, lengths);
  sums->add(a, request.rows, scaled);
  sums->prepare(request.threads);
  return sums;
}

}  // namespace kw

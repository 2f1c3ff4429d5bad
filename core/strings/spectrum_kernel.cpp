#include "strings/spectrum_kernel.h"

#include <algorithm>

#include "stores/open_map.h"
#include "strings/sequence_table.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kGroup = 32;   // rows compared with a column at once
constexpr int64_t kLong = 4096;  // number of k-mers after which interrupts are checked
// Up to this number of possible k-mers, counts are a dense array.
constexpr uint64_t kDenseSpace = 4096;

// Several rows, indexed by their k-mers.
class Group {
 public:
  Group(const SequenceView& view, IdSpan rows, const KmerRule& rule) {
    std::vector<uint64_t> kmers;
    if (rule.space() <= kDenseSpace) counts_.assign(rule.space() * kGroup, 0.0);
    for (int64_t r = 0; r < int64_t(rows.size()); ++r) {
      kmers_of(view, rows[r], rule, kmers);
      for (uint64_t kmer : kmers) counts_.empty() ? link(kmer, r) : count_one(kmer, r);
      check_interrupt();
    }
  }

  // out[r]: number of pairs of equal k-mers of row r and a column.
  void matches(const std::vector<uint64_t>& kmers, double* out) const {
    std::fill_n(out, kGroup, 0.0);
    if (counts_.empty())
      for (uint64_t kmer : kmers) add_links(kmer, out);
    else
      for (uint64_t kmer : kmers) add_counts(counts_.data() + kmer * kGroup, out);
  }

 private:
  static constexpr uint32_t kMostCounted = (1 << 27) - 1;
  static_assert(kGroup <= 1 << 5);
  struct Occurrences {
    uint32_t row : 5, count : 27;
    uint32_t next;  // 1 + index of the entry of the same k-mer in an earlier row; 0: none
  };

  void count_one(uint64_t kmer, int64_t r) { counts_[kmer * kGroup + r] += 1.0; }
  // Rows are added one after another, so that a k-mer has one entry for each row (or for every
  // kMostCounted of its occurrences), however often it is repeated.
  void link(uint64_t kmer, int64_t r) {
    uint32_t& first = first_[kmer];
    if (first && links_[first - 1].row == r && links_[first - 1].count < kMostCounted) {
      ++links_[first - 1].count;
      return;
    }
    links_.push_back({uint32_t(r), 1, first});
    first = uint32_t(links_.size());
  }
  static void add_counts(const double* counts, double* out) {
    for (int64_t r = 0; r < kGroup; ++r) out[r] += counts[r];
  }
  void add_links(uint64_t kmer, double* out) const {
    const uint32_t* first = first_.find(kmer);
    for (uint32_t at = first ? *first : 0; at; at = links_[at - 1].next)
      out[links_[at - 1].row] += double(links_[at - 1].count);
  }

  std::vector<double> counts_;  // k-mers x rows
  OpenMap<uint32_t> first_;
  std::vector<Occurrences> links_;
};

struct SpectrumRows : Rows {
  std::vector<Group> groups;
};

// sum_u #u(x)^2
double squared_counts(const std::vector<uint64_t>& kmers) {
  OpenMap<uint32_t> counts(int64_t(kmers.size()));
  double total = 0.0;
  for (uint64_t kmer : kmers) total += 2.0 * counts[kmer]++ + 1.0;
  return total;
}

// Number of letters of the first sequence.
int64_t typical_length(const Table& a) {
  const SequenceView& view = sequences_of(a);
  return view.n ? view.length_of(0) : 0;
}

class SpectrumKernel : public StoredQuantity {
 public:
  SpectrumKernel(const KmerRule& rule, StoreKind store, double scale)
      : rule_(rule), store_(store), scale_(scale) {}

  void check(const Table& a, const Table& b) const override { check_alphabet(a, b, rule_.letters); }

  std::unique_ptr<Rows> pack(const Table& a, IdSpan rows, const Table&) const override {
    auto pack = std::make_unique<SpectrumRows>();
    for (size_t r = 0; r < rows.size(); r += kGroup)
      pack->groups.emplace_back(sequences_of(a),
                                rows.subspan(r, std::min<size_t>(kGroup, rows.size() - r)), rule_);
    return pack;
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& groups = static_cast<const SpectrumRows&>(rows).groups;
    thread_local std::vector<uint64_t> kmers;
    double found[kGroup];
    for (int64_t j = j0; j < j1; ++j) {
      kmers_of(sequences_of(b), j, rule_, kmers);
      for (int64_t r = r0; r < r1; r += kGroup) {
        if (int64_t(kmers.size()) > kLong) check_interrupt();
        groups[r / kGroup].matches(kmers, found);
        for (int64_t s = r; s < std::min(r + kGroup, r1); ++s)
          out.row(s - r0)[j - j0] = scale_ * found[s - r];
      }
    }
  }

  void diagonal(const Table& a, double* out) const override {
    std::vector<uint64_t> kmers;
    for (int64_t i = 0; i < sequences_of(a).n; ++i) {
      kmers_of(sequences_of(a), i, rule_, kmers);
      out[i] = scale_ * squared_counts(kmers);
      check_interrupt();
    }
  }

  int64_t row_bytes(const Table& a) const override {
    const int64_t occurrences = 64 * typical_length(a);
    return rule_.space() <= kDenseSpace ? int64_t(rule_.space() * sizeof(double)) : occurrences;
  }

  double reads(const Table&) const override { return 0.0; }

  std::shared_ptr<const Quantity> combined(const double* planes) const override {
    return std::make_shared<SpectrumKernel>(rule_, store_, scale_ * planes[0]);
  }

  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override {
    const int64_t count = int64_t(request.rows.size());
    if (store_ == StoreKind::kRows) return nullptr;
    if (store_ == StoreKind::kAuto && !worth_a_store(a, count, request.columns)) return nullptr;
    std::vector<double> scaled(request.factors.begin(), request.factors.end());
    for (double& factor : scaled) factor *= scale_ * (request.planes ? request.planes[0] : 1.0);
    int64_t letters = 0;
    for (int64_t i : request.rows) letters += sequences_of(a).length_of(i);
    auto sums = make_store(letters);
    sums->add(a, request.rows, scaled);
    sums->prepare(request.threads);
    return sums;
  }

  std::unique_ptr<Store> make_store(int64_t letters) const override {
    return kw::make_store(store_, rule_, letters);
  }

 private:
  // In nanoseconds, measured (benchmarks/strings_crossover.py): about 15 to compare a group of rows
  // with one letter of a column, and about 4 for each letter added to or looked up in a store, plus
  // the time to clear a table.
  bool worth_a_store(const Table& a, int64_t count, int64_t columns) const {
    const double letters = double(typical_length(a));
    const double groups = double((count + kGroup - 1) / kGroup);
    const bool table = best_store(rule_, int64_t(letters) * count) == StoreKind::kTable;
    const double by_store =
        4.0 * letters * double(count + columns) + (table ? 0.1 * double(rule_.space()) : 0.0);
    return by_store < 15.0 * letters * groups * double(columns);
  }

  const KmerRule rule_;
  const StoreKind store_;
  const double scale_;
};

}  // namespace

std::shared_ptr<const StoredQuantity> spectrum_kernel(const KmerRule& rule, StoreKind store) {
  return std::make_shared<SpectrumKernel>(rule, store, 1.0);
}

}  // namespace kw

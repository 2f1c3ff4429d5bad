#include "stores/kmer_store.h"

#include <algorithm>
#include <stdexcept>

#include "stores/open_map.h"
#include "stores/suffix_store.h"
#include "strings/sequence_table.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr const char* kNames[] = {"auto", "rows", "table", "sorted", "hash", "trie", "suffix"};

// From measurements (benchmarks/strings_stores.py): a table that fits into the cache is fastest. A
// larger one is faster than a hash map if it has at most eight entries for each k-mer added.
constexpr uint64_t kCachedTable = uint64_t{1} << 16;
constexpr uint64_t kLargestTable = uint64_t{1} << 28;  // entries: 2 GB
constexpr int64_t kMostHashed = int64_t{1} << 27;      // more slots would take gigabytes

class KmerStore : public Store {
 public:
  explicit KmerStore(const KmerRule& rule) : rule_(rule) {}

  void add(const Table& a, IdSpan rows, std::span<const double> delta) final {
    std::vector<uint64_t> kmers;
    for (size_t r = 0; r < rows.size(); ++r) {
      kmers_of(sequences_of(a), rows[r], rule_, kmers);
      for (uint64_t kmer : kmers) put(kmer, delta[r]);
      if (r % kSequencesBetweenLooks == 0) check_interrupt();
    }
  }

  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t) const final {
    std::vector<uint64_t> kmers;
    for (int64_t j = j0; j < j1; ++j) {
      kmers_of(sequences_of(b), j, rule_, kmers);
      out[j - j0] += sum(kmers);
      if (j % kSequencesBetweenLooks == 0) check_interrupt();
    }
  }

  void merge(const Store& other) final {
    const auto* same = dynamic_cast<const KmerStore*>(&other);
    const bool differs = same ? same->rule_ != rule_ : rule_.folded;
    std::vector<std::pair<uint64_t, double>> found;  // `other` may be this store
    other.items([&](int64_t position, const std::string& codes, double weight) {
      if (differs || position >= 0 || int64_t(codes.size()) != rule_.k)
        throw std::invalid_argument("the stores belong to different kernels");
      found.emplace_back(rule_.number(codes), weight);
    });
    for (const auto& [kmer, weight] : found) put(kmer, weight);
  }

  void items(const VisitWord& visit) const final {
    each([&](uint64_t kmer, double weight) {
      if (weight != 0.0) visit(-1, rule_.codes(kmer), weight);
    });
  }

 protected:
  using VisitKmer = std::function<void(uint64_t kmer, double weight)>;

  virtual void put(uint64_t kmer, double weight) = 0;
  virtual double sum(std::vector<uint64_t>& kmers) const = 0;  // may reorder the k-mers
  virtual void each(const VisitKmer& visit) const = 0;

 private:
  const KmerRule rule_;
};

class TableStore : public KmerStore {
 public:
  explicit TableStore(const KmerRule& rule) : KmerStore(rule) {
    if (rule.space() > kLargestTable)
      throw std::invalid_argument("a table has room for at most 2^28 different k-mers");
    weights_.resize(rule.space());
  }

  const char* kind() const override { return "table"; }
  void clear() override { std::fill(weights_.begin(), weights_.end(), 0.0); }
  int64_t bytes() const override { return int64_t(weights_.size() * sizeof(double)); }

 protected:
  void put(uint64_t kmer, double weight) override { weights_[kmer] += weight; }

  double sum(std::vector<uint64_t>& kmers) const override {
    double total = 0.0;
    for (uint64_t kmer : kmers) total += weights_[kmer];
    return total;
  }

  void each(const VisitKmer& visit) const override {
    for (uint64_t kmer = 0; kmer < weights_.size(); ++kmer) visit(kmer, weights_[kmer]);
  }

 private:
  std::vector<double> weights_;
};

class HashStore : public KmerStore {
 public:
  using KmerStore::KmerStore;

  const char* kind() const override { return "hash"; }
  void clear() override { weights_ = OpenMap<double>(); }
  int64_t bytes() const override { return weights_.bytes(); }

 protected:
  void put(uint64_t kmer, double weight) override { weights_[kmer] += weight; }

  double sum(std::vector<uint64_t>& kmers) const override {
    for (uint64_t kmer : kmers) weights_.prefetch(kmer);
    double total = 0.0;
    for (uint64_t kmer : kmers)
      if (const double* weight = weights_.find(kmer)) total += *weight;
    return total;
  }

  void each(const VisitKmer& visit) const override { weights_.each(visit); }

 private:
  OpenMap<double> weights_;
};

// Sorted k-mers, with an array of their weights: the smallest of these stores.
class SortedStore : public KmerStore {
 public:
  using KmerStore::KmerStore;

  const char* kind() const override { return "sorted"; }
  void clear() override {
    kmers_.clear();
    weights_.clear();
    added_.clear();
  }
  int64_t bytes() const override {
    return int64_t(kmers_.size() * (sizeof(uint64_t) + sizeof(double)) +
                   added_.capacity() * sizeof(Item));
  }

  void prepare(int) override {
    if (added_.empty()) return;
    for (size_t at = 0; at < kmers_.size(); ++at) added_.emplace_back(kmers_[at], weights_[at]);
    std::sort(added_.begin(), added_.end(),
              [](const Item& a, const Item& b) { return a.first < b.first; });
    kmers_.clear();
    weights_.clear();
    for (const auto& [kmer, weight] : added_) {
      if (kmers_.empty() || kmers_.back() != kmer) {
        kmers_.push_back(kmer);
        weights_.push_back(0.0);
      }
      weights_.back() += weight;
    }
    added_ = {};
  }

 protected:
  void put(uint64_t kmer, double weight) override { added_.emplace_back(kmer, weight); }

  double sum(std::vector<uint64_t>& kmers) const override {
    std::sort(kmers.begin(), kmers.end());
    double total = 0.0;
    auto at = kmers_.begin();
    for (uint64_t kmer : kmers) {
      at = std::lower_bound(at, kmers_.end(), kmer);
      if (at == kmers_.end()) break;
      if (*at == kmer) total += weights_[size_t(at - kmers_.begin())];
    }
    return total;
  }

  void each(const VisitKmer& visit) const override {
    for (size_t at = 0; at < kmers_.size(); ++at) visit(kmers_[at], weights_[at]);
  }

 private:
  using Item = std::pair<uint64_t, double>;

  std::vector<uint64_t> kmers_;
  std::vector<double> weights_;
  std::vector<Item> added_;  // added since the arrays were sorted
};

std::shared_ptr<const LengthWeights> one_length(const KmerRule& rule) {
  if (rule.folded) throw std::invalid_argument("a suffix store cannot fold the two strands");
  std::vector<double> weights(size_t(rule.k), 0.0);
  weights.back() = 1.0;
  return std::make_shared<LengthWeights>(std::move(weights));
}

}  // namespace

StoreKind store_kind(const std::string& name) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found != std::end(kNames)) return StoreKind(found - std::begin(kNames));
  throw std::invalid_argument(
      "store must be one of auto, rows, table, sorted, hash, trie and suffix, got " + name);
}

StoreKind best_store(const KmerRule& rule, int64_t kmers) {
  if (rule.space() <= kCachedTable || rule.space() <= 8 * uint64_t(kmers)) return StoreKind::kTable;
  return kmers <= kMostHashed ? StoreKind::kHash : StoreKind::kSorted;
}

std::unique_ptr<Store> make_store(StoreKind kind, const KmerRule& rule, int64_t kmers) {
  switch (kind == StoreKind::kAuto ? best_store(rule, kmers) : kind) {
    case StoreKind::kTable:
      return std::make_unique<TableStore>(rule);
    case StoreKind::kSorted:
      return std::make_unique<SortedStore>(rule);
    case StoreKind::kHash:
      return std::make_unique<HashStore>(rule);
    case StoreKind::kSuffix:
      return std::make_unique<SuffixStore>(int(rule.letters), one_length(rule));
    default:
      throw std::invalid_argument(
          "a store of k-mers must be one of auto, table, sorted, hash and suffix");
  }
}

}  // namespace kw

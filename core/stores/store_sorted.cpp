// The k-mers that occur in a sorted array, with an array of their weights: the smallest store.
#include <algorithm>

#include "stores/kmer_store.h"

namespace kw {
namespace {

class SortedStore : public NumberStore {
 public:
  using NumberStore::NumberStore;

  void clear() override {
    kmers_.clear();
    weights_.clear();
    added_.clear();
  }
  void prepare(int) override;
  int64_t bytes() const override {
    return int64_t(kmers_.size() * (sizeof(uint64_t) + sizeof(double)) +
                   added_.capacity() * sizeof(Item));
  }

 protected:
  void put(uint64_t kmer, double weight) override { added_.emplace_back(kmer, weight); }

  double sum(const std::vector<uint64_t>& kmers) const override {
    thread_local std::vector<uint64_t> sorted;
    sorted = kmers;
    std::sort(sorted.begin(), sorted.end());
    double total = 0.0;
    auto at = kmers_.begin();
    for (uint64_t kmer : sorted) {
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

void SortedStore::prepare(int) {
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

}  // namespace

std::unique_ptr<KmerStore> sorted_store(const KmerRule& rule) {
  return std::make_unique<SortedStore>(rule);
}

}  // namespace kw

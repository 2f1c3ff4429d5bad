// The k-mers that occur, in a hash map.
#include "stores/kmer_store.h"
#include "stores/open_map.h"

namespace kw {
namespace {

class HashStore : public NumberStore {
 public:
  using NumberStore::NumberStore;

  void clear() override { weights_ = OpenMap<double>(); }
  int64_t bytes() const override { return weights_.bytes(); }

 protected:
  void put(uint64_t kmer, double weight) override { weights_[kmer] += weight; }

  double sum(const std::vector<uint64_t>& kmers) const override {
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

}  // namespace

std::unique_ptr<KmerStore> hash_store(const KmerRule& rule) {
  return std::make_unique<HashStore>(rule);
}

}  // namespace kw

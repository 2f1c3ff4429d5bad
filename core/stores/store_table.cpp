// An array with one entry for every possible k-mer.
#include <algorithm>
#include <stdexcept>

#include "stores/kmer_store.h"

namespace kw {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 28;  // entries: 2 GB

class TableStore : public NumberStore {
 public:
  explicit TableStore(const KmerRule& rule) : NumberStore(rule) {
    if (rule.space() > kMost)
      throw std::invalid_argument("a table has room for at most 2^28 different k-mers");
    weights_.resize(rule.space());
  }

  void clear() override { std::fill(weights_.begin(), weights_.end(), 0.0); }
  int64_t bytes() const override { return int64_t(weights_.size() * sizeof(double)); }

 protected:
  void put(uint64_t kmer, double weight) override { weights_[kmer] += weight; }

  double sum(const std::vector<uint64_t>& kmers) const override {
    double total = 0.0;
    for (uint64_t kmer : kmers) total += weights_[kmer];
    return total;
  }

  void each(const VisitKmer& visit) const override {
    for (uint64_t kmer = 0; kmer < weights_.size(); ++kmer)
      if (weights_[kmer] != 0.0) visit(kmer, weights_[kmer]);
  }

 private:
  std::vector<double> weights_;
};

}  // namespace

std::unique_ptr<KmerStore> table_store(const KmerRule& rule) {
  return std::make_unique<TableStore>(rule);
}

}  // namespace kw

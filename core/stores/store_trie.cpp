// The k-mers that occur in a trie, one level per letter, with the weights in the leaves.
// (wd_store.h has the trie of the weighted degree kernel, whose inner nodes have weights, too.)
#include "stores/edges.h"
#include "stores/kmer_store.h"

namespace kw {
namespace {

class TrieStore : public NumberStore {
 public:
  explicit TrieStore(const KmerRule& rule) : NumberStore(rule), edges_(rule.letters) {
    for (uint64_t place = rule.space() / rule.letters; place; place /= rule.letters)
      places_.push_back(place);
    clear();
  }

  void clear() override {
    edges_ = Edges(rule.letters);
    edges_.add_node();
    weights_.assign(1, 0.0);
  }
  int64_t bytes() const override {
    return edges_.bytes() + int64_t(weights_.capacity() * sizeof(double));
  }

 protected:
  void put(uint64_t kmer, double weight) override {
    uint32_t node = 0;
    for (uint64_t place : places_) {
      const uint8_t letter = letter_at(kmer, place);
      uint32_t next = edges_.to(node, letter);
      if (next == Edges::kNowhere) {
        next = edges_.add_node();
        edges_.set(node, letter, next);
        weights_.push_back(0.0);
      }
      node = next;
    }
    weights_[node] += weight;
  }

  double sum(const std::vector<uint64_t>& kmers) const override {
    double total = 0.0;
    for (uint64_t kmer : kmers) total += weight_of(kmer);
    return total;
  }

  void each(const VisitKmer& visit) const override { visit_below(0, 0, 0, visit); }

 private:
  uint8_t letter_at(uint64_t kmer, uint64_t place) const {
    return uint8_t(kmer / place % rule.letters);
  }

  double weight_of(uint64_t kmer) const {
    uint32_t node = 0;
    for (uint64_t place : places_) {
      node = edges_.to(node, letter_at(kmer, place));
      if (node == Edges::kNowhere) return 0.0;
    }
    return weights_[node];
  }

  void visit_below(uint32_t node, int64_t depth, uint64_t kmer, const VisitKmer& visit) const {
    if (depth == rule.k) return visit(kmer, weights_[node]);
    for (uint64_t letter = 0; letter < rule.letters; ++letter)
      if (const uint32_t next = edges_.to(node, uint8_t(letter)))
        visit_below(next, depth + 1, kmer * rule.letters + letter, visit);
  }

  std::vector<uint64_t> places_;  // place value of each letter of a k-mer
  Edges edges_;
  std::vector<double> weights_;  // weight of each node
};

}  // namespace

std::unique_ptr<KmerStore> trie_store(const KmerRule& rule) {
  return std::make_unique<TrieStore>(rule);
}

}  // namespace kw

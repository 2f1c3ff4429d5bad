// Weight stores whose words are the k-mers of a sequence, wherever they occur. Each has a file of
// its own, store_*.cpp.
#pragma once
#include "stores/store.h"
#include "strings/kmers.h"

namespace kw {

// kRows: no store, sums row by row. kAuto: whichever is cheapest.
enum class StoreKind { kAuto, kRows, kTable, kSorted, kHash, kTrie, kSuffix };

StoreKind store_kind(const std::string& name);
const char* store_name(StoreKind kind);

class KmerStore : public Store {
 public:
  explicit KmerStore(const KmerRule& rule) : rule(rule) {}

  void add(const Table& a, IdSpan rows, std::span<const double> delta) final;
  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t stride) const final;
  void merge(const Store& other) final;
  void items(const VisitWord& visit) const final;

  const KmerRule rule;

 protected:
  using VisitKmer = std::function<void(uint64_t kmer, double weight)>;

  virtual void put_sequence(const SequenceView& view, int64_t i, double delta) = 0;
  virtual double sum_sequence(const SequenceView& view, int64_t i) const = 0;
  virtual void put(uint64_t kmer, double weight) = 0;
  virtual void each(const VisitKmer& visit) const = 0;
};

// Stores that see k-mers as numbers, not as letters.
class NumberStore : public KmerStore {
 public:
  using KmerStore::KmerStore;

 protected:
  void put_sequence(const SequenceView& view, int64_t i, double delta) final;
  double sum_sequence(const SequenceView& view, int64_t i) const final;
  virtual double sum(const std::vector<uint64_t>& kmers) const = 0;
};

std::unique_ptr<KmerStore> table_store(const KmerRule& rule);
std::unique_ptr<KmerStore> sorted_store(const KmerRule& rule);
std::unique_ptr<KmerStore> hash_store(const KmerRule& rule);
std::unique_ptr<KmerStore> trie_store(const KmerRule& rule);

// The store that adds and looks up fastest, for so many k-mers to be added, repeated ones included.
StoreKind best_store(const KmerRule& rule, int64_t kmers);
// kind: any but kRows; `kmers` matters for kAuto only.
std::unique_ptr<Store> make_store(StoreKind kind, const KmerRule& rule, int64_t kmers);

}  // namespace kw

// Weight stores of k-mers at any position of a sequence. Each data structure has a file:
// store_table.cpp, store_sorted.cpp, store_hash.cpp, store_trie.cpp.
#pragma once
#include "stores/store.h"
#include "strings/kmers.h"

namespace kw {

// kRows: no store, kernel values row by row. kAuto: the cheapest.
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

// Stores that read k-mers as integers.
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

// Returns the fastest store for adding `kmers` k-mers (with repetitions) and looking up sequences.
StoreKind best_store(const KmerRule& rule, int64_t kmers);
// kind: any but kRows; `kmers` is used by kAuto only.
std::unique_ptr<Store> make_store(StoreKind kind, const KmerRule& rule, int64_t kmers);

}  // namespace kw

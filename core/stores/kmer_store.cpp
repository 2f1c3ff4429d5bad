#include "stores/kmer_store.h"

#include <stdexcept>

#include "stores/suffix_store.h"
#include "strings/sequence_table.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr const char* kNames[] = {"auto", "rows", "table", "sorted", "hash", "trie", "suffix"};

// From measurements (benchmarks/strings_stores.py): a table that fits into the cache is fastest. A
// larger one is faster than a hash table if it has at most eight entries for each k-mer added.
constexpr uint64_t kCachedTable = uint64_t{1} << 16;
constexpr int64_t kMostHashed = int64_t{1} << 27;  // more slots would take gigabytes

std::shared_ptr<const LengthWeights> one_length(const KmerRule& rule) {
  if (rule.folded) throw std::invalid_argument("a suffix store cannot fold the two strands");
  std::vector<double> weights(size_t(rule.k), 0.0);
  weights.back() = 1.0;
  return std::make_shared<LengthWeights>(std::move(weights));
}

}  // namespace

StoreKind store_kind(const std::string& name) {
  for (int kind = 0; kind < int(std::size(kNames)); ++kind)
    if (name == kNames[kind]) return StoreKind(kind);
  throw std::invalid_argument(
      "store must be one of auto, rows, table, sorted, hash, trie and suffix, got " + name);
}

const char* store_name(StoreKind kind) { return kNames[int(kind)]; }

void KmerStore::add(const Table& a, IdSpan rows, std::span<const double> delta) {
  const int64_t count = int64_t(rows.size());
  for (int64_t r = 0; r < count; ++r) {
    put_sequence(sequences_of(a), rows[r], delta[r]);
    if (r % kSequencesBetweenLooks == 0) check_interrupt();
  }
}

void KmerStore::lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t) const {
  for (int64_t j = j0; j < j1; ++j) {
    out[j - j0] += sum_sequence(sequences_of(b), j);
    if (j % kSequencesBetweenLooks == 0) check_interrupt();
  }
}

void KmerStore::merge(const Store& other) {
  const auto* same = dynamic_cast<const KmerStore*>(&other);
  const bool differs = same ? same->rule != rule : rule.folded;
  std::vector<std::pair<uint64_t, double>> found;  // `other` may be this store
  other.items([&](int64_t position, const std::string& codes, double weight) {
    if (differs || position >= 0 || int64_t(codes.size()) != rule.k)
      throw std::invalid_argument("the stores belong to different kernels");
    found.emplace_back(rule.number(codes), weight);
  });
  for (const auto& [kmer, weight] : found) put(kmer, weight);
}

void KmerStore::items(const VisitWord& visit) const {
  each([&](uint64_t kmer, double weight) {
    if (weight != 0.0) visit(-1, rule.codes(kmer), weight);
  });
}

void NumberStore::put_sequence(const SequenceView& view, int64_t i, double delta) {
  thread_local std::vector<uint64_t> kmers;
  kmers_of(view, i, rule, kmers);
  for (uint64_t kmer : kmers) put(kmer, delta);
}

double NumberStore::sum_sequence(const SequenceView& view, int64_t i) const {
  thread_local std::vector<uint64_t> kmers;
  kmers_of(view, i, rule, kmers);
  return sum(kmers);
}

StoreKind best_store(const KmerRule& rule, int64_t kmers) {
  if (rule.space() <= kCachedTable || rule.space() <= 8 * uint64_t(kmers)) return StoreKind::kTable;
  return kmers <= kMostHashed ? StoreKind::kHash : StoreKind::kSorted;
}

std::unique_ptr<Store> make_store(StoreKind kind, const KmerRule& rule, int64_t kmers) {
  switch (kind == StoreKind::kAuto ? best_store(rule, kmers) : kind) {
    case StoreKind::kTable:
      return table_store(rule);
    case StoreKind::kSorted:
      return sorted_store(rule);
    case StoreKind::kHash:
      return hash_store(rule);
    case StoreKind::kTrie:
      return trie_store(rule);
    case StoreKind::kSuffix:
      return std::make_unique<SuffixStore>(int(rule.letters), one_length(rule));
    default:
      throw std::invalid_argument("not a store");
  }
}

}  // namespace kw

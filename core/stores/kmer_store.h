// Weight stores of k-mers at any position of a sequence: a table with an entry for every possible
// k-mer, sorted arrays, or a hash map of the k-mers that occur. A suffix array (suffix_store.h)
// serves k-mers of any length.
#pragma once
#include "stores/store.h"
#include "strings/kmers.h"

namespace kw {

// kRows: no store, kernel values row by row. kAuto: the cheapest. kTrie: weighted degree kernels.
enum class StoreKind { kAuto, kRows, kTable, kSorted, kHash, kTrie, kSuffix };

StoreKind store_kind(const std::string& name);

// Returns the fastest store for adding `kmers` k-mers (with repetitions) and looking up sequences.
StoreKind best_store(const KmerRule& rule, int64_t kmers);
// kind: kAuto, kTable, kSorted, kHash or kSuffix; `kmers` is used by kAuto only.
std::unique_ptr<Store> make_store(StoreKind kind, const KmerRule& rule, int64_t kmers);

}  // namespace kw

// Parameters of the kernels that compare words by their number of mismatches (hamming_kernel.h).
#pragma once
#include "stores/kmer_store.h"
#include "strings/word_pairs.h"

namespace kw {

// Maximum number of entries of a table of words: 2 GB.
constexpr uint64_t kMostWords = uint64_t{1} << 28;

struct HammingParameters {
  HammingRule rule;
  // For each member l + 1 numbers: the values h by number of mismatches, and the eigenvalues of the
  // operator on tables of words (word_operator.h).
  std::vector<double> values, spectra;
  // kRows: compare pairs of sequences only; kTable: use tables only.
  StoreKind store = StoreKind::kAuto;

  int64_t length() const { return rule.kmers.k; }
  int64_t members() const { return int64_t(values.size()) / (length() + 1); }
};

}  // namespace kw

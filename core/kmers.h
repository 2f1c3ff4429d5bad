// The k-mers of sequences as numbers: letters are digits in base `letters`, the first one highest.
#pragma once
#include <functional>

#include "sequences.h"

namespace kw {

struct KmerRule {
  int64_t k;
  uint64_t letters;        // size of the alphabet; letters^k must fit into 63 bits
  const uint8_t* partner;  // code of the complement of each code: a k-mer and its reverse
                           // complement then count as one; null: they differ
};

// Whether letters^k fits into 63 bits.
bool kmers_fit(int64_t k, uint64_t letters);

// The k-mers of sequence i without unknown letters, in the order of their positions.
void kmers_of(const SequenceView& view, int64_t i, const KmerRule& rule,
              std::vector<uint64_t>& out);

}  // namespace kw

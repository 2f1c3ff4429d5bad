// The k-mers of sequences as numbers: letters are digits in base `letters`, the first one highest.
#pragma once
#include <string>

#include "strings/sequences.h"

namespace kw {

struct KmerRule {
  int64_t k = 1;
  uint64_t letters = 4;      // size of the alphabet; letters^k must fit into 64 bits
  bool folded = false;       // a k-mer and its reverse complement count as one, the smaller number
  LetterTable partner = {};  // code of the complement of each code

  bool operator==(const KmerRule&) const = default;
  // letters^k: how many k-mers there can be.
  uint64_t space() const;
  // The codes of the letters of a k-mer, and back.
  std::string codes(uint64_t kmer) const;
  uint64_t number(const std::string& codes) const;
  // Its reverse complement, as a word of so many letters.
  uint64_t reverse_complement(uint64_t kmer, int64_t length) const;
};

constexpr int64_t kLongestKmer = 63;  // for two letters; larger alphabets have shorter k-mers

// True if k letters are a k-mer: letters^k fits into 64 bits, so that no k-mer is the largest
// number, which maps keep for themselves.
bool kmers_fit(int64_t k, uint64_t letters);

// The k-mers of letters without unknown ones, in the order of their positions.
void kmers_of(const std::vector<uint8_t>& codes, const KmerRule& rule, std::vector<uint64_t>& out);
// The k-mers of sequence i without unknown letters, in the order of their positions.
void kmers_of(const SequenceView& view, int64_t i, const KmerRule& rule,
              std::vector<uint64_t>& out);

}  // namespace kw

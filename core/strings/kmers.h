// The k-mers of sequences as numbers: letters are digits in base `letters`, the first one highest.
#pragma once
#include <string>

#include "strings/sequences.h"

namespace kw {

struct KmerRule {
  int64_t k = 1;
  uint64_t letters = 4;  // size of the alphabet; letters^k must fit into 64 bits
  // A k-mer and its reverse complement count as the same k-mer, the smaller of the two numbers.
  bool folded = false;
  LetterTable partner = {};  // code of the complement of each code

  bool operator==(const KmerRule&) const = default;
  // Number of possible k-mers: letters^k.
  uint64_t space() const;
  // Converts a k-mer to the codes of its letters.
  std::string codes(uint64_t kmer) const;
  uint64_t number(const std::string& codes) const;
  // The reverse complement of a k-mer with `length` letters.
  uint64_t reverse_complement(uint64_t kmer, int64_t length) const;
};

constexpr int64_t kLongestKmer = 63;  // for alphabets of two letters; shorter for larger alphabets

// True if letters^k fits into 64 bits. Then no k-mer equals the largest number, which hash maps
// reserve.
bool kmers_fit(int64_t k, uint64_t letters);

// The k-mers of a list of codes that have no unknown letters, by position.
void kmers_of(const std::vector<uint8_t>& codes, const KmerRule& rule, std::vector<uint64_t>& out);
// The k-mers of sequence i that have no unknown letters, by position.
void kmers_of(const SequenceView& view, int64_t i, const KmerRule& rule,
              std::vector<uint64_t>& out);

}  // namespace kw

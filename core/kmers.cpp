#include "kmers.h"

#include <algorithm>

namespace kw {
namespace {

// Digits of two bits, as DNA has them: shifts take the place of products.
struct BinaryDigits {
  uint64_t mask;
  int64_t top;

  explicit BinaryDigits(const KmerRule& rule)
      : mask((uint64_t{1} << (2 * rule.k)) - 1), top(2 * (rule.k - 1)) {}
  uint64_t append(uint64_t kmer, uint8_t, uint8_t code) const { return (kmer << 2 | code) & mask; }
  uint64_t prepend(uint64_t kmer, uint8_t code) const { return kmer >> 2 | uint64_t(code) << top; }
};

struct AnyDigits {
  uint64_t base, highest = 1;  // highest: what the first letter counts

  explicit AnyDigits(const KmerRule& rule) : base(rule.letters) {
    for (int64_t p = 1; p < rule.k; ++p) highest *= base;
  }
  uint64_t append(uint64_t kmer, uint8_t first, uint8_t code) const {
    return (kmer - first * highest) * base + code;
  }
  uint64_t prepend(uint64_t kmer, uint8_t code) const { return kmer / base + code * highest; }
};

template <class Digits, bool Folded>
void collect(const std::vector<uint8_t>& codes, const KmerRule& rule, std::vector<uint64_t>& out) {
  const Digits digits(rule);
  const int64_t length = int64_t(codes.size());
  uint64_t forward = 0, backward = 0;  // the last k letters, and their reverse complement
  int64_t known = 0, found = 0;
  out.resize(codes.size());
  for (int64_t p = 0; p < length; ++p) {
    if (codes[p] == kUnknown) {
      known = 0;
      forward = backward = 0;
      continue;
    }
    forward = digits.append(forward, known >= rule.k ? codes[p - rule.k] : 0, codes[p]);
    if (Folded) backward = digits.prepend(backward, rule.partner[codes[p]]);
    ++known;
    out[found] = Folded ? std::min(forward, backward) : forward;
    found += known >= rule.k;
  }
  out.resize(size_t(found));
}

}  // namespace

bool kmers_fit(int64_t k, uint64_t letters) {
  unsigned __int128 size = 1;
  for (int64_t i = 0; i < k; ++i) {
    size *= letters;
    if (size >> 63) return false;
  }
  return true;
}

uint64_t KmerRule::space() const {
  uint64_t size = 1;
  for (int64_t i = 0; i < k; ++i) size *= letters;
  return size;
}

std::string KmerRule::codes(uint64_t kmer) const {
  std::string word(size_t(k), 0);
  for (int64_t p = k - 1; p >= 0; --p, kmer /= letters) word[p] = char(kmer % letters);
  return word;
}

void kmers_of(const SequenceView& view, int64_t i, const KmerRule& rule,
              std::vector<uint64_t>& out) {
  thread_local std::vector<uint8_t> codes;
  codes.resize(size_t(view.length_of(i)));
  view.unpack(i, codes.data());
  const bool binary = rule.letters == 4;
  if (rule.folded)
    binary ? collect<BinaryDigits, true>(codes, rule, out)
           : collect<AnyDigits, true>(codes, rule, out);
  else
    binary ? collect<BinaryDigits, false>(codes, rule, out)
           : collect<AnyDigits, false>(codes, rule, out);
}

}  // namespace kw

#include "strings/kmers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace kw {
namespace {

// Digits of two bits, for DNA: shifts replace multiplications.
struct BinaryDigits {
  uint64_t mask;
  int64_t top;

  explicit BinaryDigits(const KmerRule& rule)
      : mask((uint64_t{1} << (2 * rule.k)) - 1), top(2 * (rule.k - 1)) {}
  uint64_t append(uint64_t kmer, uint8_t, uint8_t code) const { return (kmer << 2 | code) & mask; }
  uint64_t prepend(uint64_t kmer, uint8_t code) const { return kmer >> 2 | uint64_t(code) << top; }
};

struct AnyDigits {
  uint64_t base, highest = 1;  // highest: place value of the first letter

  explicit AnyDigits(const KmerRule& rule) : base(rule.letters) {
    for (int64_t p = 1; p < rule.k; ++p) highest *= base;
  }
  uint64_t append(uint64_t kmer, uint8_t first, uint8_t code) const {
    return (kmer - first * highest) * base + code;
  }
  uint64_t prepend(uint64_t kmer, uint8_t code) const { return kmer / base + code * highest; }
};

// Reverses eight letters of two bits each: the bits of byte b go to position 2 * (7 - p).
constexpr std::array<uint16_t, 256> make_reversed() {
  std::array<uint16_t, 256> table = {};
  for (int b = 0; b < 256; ++b)
    for (int p = 0; p < 8; ++p) table[b] |= uint16_t((b >> p & 1) << (2 * (7 - p)));
  return table;
}
constexpr std::array<uint16_t, 256> kReversed = make_reversed();
constexpr int64_t kMostPacked = 28;  // longest k-mer that fits into one word at any bit offset

// Extracts k-mers from bit planes. All letters are joined to one long number with two bits per
// letter, the first letter highest, and each k-mer is cut out of it without reading its neighbours.
void cut(const SequenceView& view, int64_t i, int64_t k, std::vector<uint64_t>& out) {
  static_assert(std::endian::native == std::endian::little);
  thread_local std::vector<uint16_t> number;
  const int64_t length = view.length_of(i), eights = (length + 7) / 8;
  const uint64_t* low = view.words + view.start_of(i);
  const uint64_t* high = low + words_for(length);
  number.resize(size_t(eights) + 4);
  for (int64_t e = 0; e < eights; ++e) {
    const int64_t word = e / 8, bit = e % 8 * 8;
    number[eights - 1 - e] =
        uint16_t(kReversed[low[word] >> bit & 255] | kReversed[high[word] >> bit & 255] << 1);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(number.data());
  const uint64_t mask = (uint64_t{1} << (2 * k)) - 1;
  out.resize(size_t(std::max<int64_t>(0, length - k + 1)));
  for (size_t p = 0; p < out.size(); ++p) {
    const int64_t bit = 2 * (8 * eights - k - int64_t(p));
    uint64_t window;
    std::memcpy(&window, bytes + bit / 8, sizeof window);
    out[p] = window >> (bit % 8) & mask;
  }
}

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
  if (k > kLongestKmer) return false;
  unsigned __int128 size = 1;
  for (int64_t i = 0; i < k; ++i) {
    size *= letters;
    if (size >> 64) return false;
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

uint64_t KmerRule::number(const std::string& codes) const {
  uint64_t kmer = 0;
  for (char code : codes) kmer = kmer * letters + uint8_t(code);
  return kmer;
}

uint64_t KmerRule::reverse_complement(uint64_t kmer, int64_t length) const {
  // Two bits per letter, all inverted by the complement.
  if (letters == 4 && partner[0] == 3 && partner[1] == 2) {
    uint64_t word = ~kmer;
    word = (word >> 2 & 0x3333333333333333) | (word & 0x3333333333333333) << 2;
    word = (word >> 4 & 0x0f0f0f0f0f0f0f0f) | (word & 0x0f0f0f0f0f0f0f0f) << 4;
    return length ? __builtin_bswap64(word) >> (64 - 2 * length) : 0;
  }
  uint64_t other = 0;
  for (int64_t p = 0; p < length; ++p, kmer /= letters)
    other = other * letters + partner[kmer % letters];
  return other;
}

void kmers_of(const SequenceView& view, int64_t i, const KmerRule& rule,
              std::vector<uint64_t>& out) {
  if (view.planes && rule.letters == 4 && !rule.folded && rule.k <= kMostPacked &&
      view.all_known(i))
    return cut(view, i, rule.k, out);
  thread_local std::vector<uint8_t> codes;
  codes.resize(size_t(view.length_of(i)));
  view.unpack(i, codes.data());
  kmers_of(codes, rule, out);
}

void kmers_of(const std::vector<uint8_t>& codes, const KmerRule& rule, std::vector<uint64_t>& out) {
  const bool binary = rule.letters == 4;
  if (rule.folded)
    binary ? collect<BinaryDigits, true>(codes, rule, out)
           : collect<AnyDigits, true>(codes, rule, out);
  else
    binary ? collect<BinaryDigits, false>(codes, rule, out)
           : collect<AnyDigits, false>(codes, rule, out);
}

}  // namespace kw

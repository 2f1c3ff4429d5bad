#include "kmers.h"

#include <algorithm>

namespace kw {

bool kmers_fit(int64_t k, uint64_t letters) {
  unsigned __int128 size = 1;
  for (int64_t i = 0; i < k; ++i) {
    size *= letters;
    if (size >> 63) return false;
  }
  return true;
}

void kmers_of(const SequenceView& view, int64_t i, const KmerRule& rule,
              std::vector<uint64_t>& out) {
  thread_local std::vector<uint8_t> codes;
  codes.resize(size_t(view.length_of(i)));
  view.unpack(i, codes.data());
  out.clear();
  uint64_t highest = 1;  // weight of the first letter
  for (int64_t p = 1; p < rule.k; ++p) highest *= rule.letters;
  uint64_t forward = 0, backward = 0;  // the last k letters, and their reverse complement
  int64_t known = 0;
  for (size_t p = 0; p < codes.size(); ++p) {
    if (codes[p] == kUnknown) {
      known = 0;
      forward = backward = 0;
      continue;
    }
    if (known >= rule.k) {
      forward -= codes[p - rule.k] * highest;
    }
    forward = forward * rule.letters + codes[p];
    if (rule.partner) backward = backward / rule.letters + rule.partner[codes[p]] * highest;
    if (++known >= rule.k) out.push_back(rule.partner ? std::min(forward, backward) : forward);
  }
}

}  // namespace kw

#include "strings/word_pairs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "simd/simd.h"
#include "simd/words.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr uint8_t kNothing = 254;  // what is no letter

}  // namespace

double WordRule::weight(int64_t i, int64_t count) const {
  if (peak <= 0.0) return 1.0;
  const double away = double(std::abs(count / 2 - i));
  return std::min(peak, std::floor(peak * std::exp2(-away / half_life) + 1.0));
}

Strand::Strand(std::vector<uint8_t> codes, const WordRule& rule)
    : codes_(std::move(codes)), front_(kRoom + rule.kmers.k) {
  const int64_t n = length(), l = rule.kmers.k, count = n - l + 1;
  padded_.assign(size_t(front_ + n + kRoom), kNothing);
  no_word_.assign(size_t(n + 2 * kRoom), 128);
  if (rule.peak > 0.0) weight_.assign(size_t(n), 0.0);
  int64_t known = 0;
  for (int64_t j = 0; j < n; ++j) {
    known = codes_[j] == kUnknown ? 0 : known + 1;
    if (known) padded_[front_ + j] = codes_[j];
    if (known < l) continue;
    no_word_[kRoom + j] = 0;
    ++words_;
    if (rule.peak > 0.0) weight_[j] = rule.weight(j - l + 1, count);
  }
}

Strand Strand::reverse(const WordRule& rule) const {
  std::vector<uint8_t> other(codes_.rbegin(), codes_.rend());
  for (uint8_t& code : other)
    if (code != kUnknown) code = rule.kmers.partner[code];
  Strand strand(std::move(other), rule);
  // A word weighs what it does on the strand that was read.
  for (int64_t j = rule.kmers.k - 1; strand.weighted() && j < length(); ++j)
    strand.weight_[j] = weight_[length() - 1 - j + rule.kmers.k - 1];
  return strand;
}

Strands::Strands(const SequenceView& view, int64_t i, const WordRule& rule) {
  std::vector<uint8_t> codes(size_t(view.length_of(i)));
  view.unpack(i, codes.data());
  strands.emplace_back(std::move(codes), rule);
  if (rule.both_strands) strands.push_back(strands[0].reverse(rule));
}

const std::vector<double>& WordPairs::count(const Strands& x, const Strands& y) {
  std::fill(found_.begin(), found_.end(), 0.0);
  std::fill(pairs_.begin(), pairs_.end(), 0);
  for (const Strand& strand : y.strands)
    strand.weighted() ? compare_weighted(x.strands[0], strand)
                      : compare_from(x.strands[0], strand, 1 - x.strands[0].length());
  for (size_t c = 0; c < found_.size(); ++c) found_[c] += double(pairs_[c]);
  return found_;
}

// h(u, v) = h(v, u), and h(u, partner of v) = h(v, partner of u).
const std::vector<double>& WordPairs::count_own(const Strands& x) {
  const Strand& own = x.strands[0];
  if (own.weighted()) return count(x, x);
  std::fill(pairs_.begin(), pairs_.end(), 0);
  for (const Strand& strand : x.strands) compare_half(own, strand, &strand == &own);
  for (size_t c = 0; c < found_.size(); ++c) found_[c] = 2.0 * double(pairs_[c]);
  found_[0] -= double(own.words());
  if (x.strands.size() < 2) return found_;
  const int64_t l = rule_.kmers.k;  // words and their own partners were met once, and doubled
  for (int64_t j = l - 1; j < own.length(); ++j) {
    if (own.no_word()[j]) continue;
    const uint8_t *word = own.letters() + j - l + 1,
                  *partner = x.strands[1].letters() + own.length() - 1 - j;
    const int64_t mismatches = l - std::inner_product(word, word + l, partner, int64_t{0},
                                                      std::plus<>(), std::equal_to<>());
    if (mismatches < int64_t(found_.size())) found_[mismatches] -= 1.0;
  }
  return found_;
}

void WordPairs::compare_from(const Strand& x, const Strand& y, int64_t first) {
  constexpr int64_t kRoom = Strand::kRoom;
  if (int64_t(beyond_.size()) < y.length() + 3 * kRoom)
    beyond_.assign(size_t(y.length() + 3 * kRoom), 0);
  const int64_t no_bound = 4 * (x.length() + y.length());
  simd().words->windows({x.codes().data(), y.letters(), x.no_word(), y.no_word(), x.length(),
                         y.length(), first, no_bound, beyond_.data() + kRoom, 0, rule_.kmers.k,
                         int64_t(pairs_.size()), pairs_.data()});
}

// x with itself: words of y from that of x on. x with its partner: words up to the partner's.
void WordPairs::compare_half(const Strand& x, const Strand& y, bool same) {
  constexpr int64_t kRoom = Strand::kRoom;
  const int64_t n = x.length(), l = rule_.kmers.k, last_sum = n + l - 2;
  if (!same && later_from_ != last_sum) {
    later_from_ = last_sum;
    later_.assign(size_t(2 * n + l + 3 * kRoom), 0);
    std::fill(later_.begin() + kRoom + last_sum + 1, later_.end(), 128);
  }
  if (same) return compare_from(x, y, 0);
  simd().words->windows({x.codes().data(), y.letters(), x.no_word(), y.no_word(), n, n, -n + 1,
                         last_sum, later_.data() + kRoom, 1, l, int64_t(pairs_.size()),
                         pairs_.data()});
}

void WordPairs::compare_weighted(const Strand& x, const Strand& y) {
  const int64_t l = rule_.kmers.k;
  for (int64_t t = -x.length() + 1; t < y.length(); ++t) {
    int64_t equal = 0;
    const int64_t begin = std::max<int64_t>(0, -t), end = std::min(x.length(), y.length() - t);
    for (int64_t a = begin; a < end; ++a) {
      equal += x.letters()[a] == y.letters()[a + t] && x.letters()[a] != kNothing;
      if (a - begin >= l) {
        const uint8_t left = x.letters()[a - l];
        equal -= left == y.letters()[a + t - l] && left != kNothing;
      }
      if (x.no_word()[a] || y.no_word()[a + t] || l - equal >= int64_t(found_.size())) continue;
      found_[l - equal] += x.weight(a) * y.weight(a + t);
    }
    check_interrupt();
  }
}

}  // namespace kw

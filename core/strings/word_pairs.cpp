#include "strings/word_pairs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "simd/simd.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kRanges = 16;    // ranges compared between two checks for interrupts
constexpr int64_t kListed = 128;   // lanes of a range whose pairs are listed at a time,
constexpr int64_t kMostLanes = 8;  // rounded up to the lanes of a vector

// Bit p of row k is bit k of the code of letter p.
void pack_planes(const std::vector<uint8_t>& codes, int planes, int64_t words, uint64_t* rows) {
  const int64_t n = int64_t(codes.size());
  for (int64_t p = 0; p < n; p += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, codes.data() + p, size_t(std::min<int64_t>(8, n - p)));
    for (int k = 0; k < planes; ++k) {
      const uint64_t bits = (eight >> k & 0x0101010101010101) * 0x0102040810204080 >> 56;
      rows[k * words + p / 64] |= bits << (p % 64);
    }
  }
}

// Bit p of the row is set if a word of l known letters begins at p. Returns the number of words.
int64_t mark_words(const std::vector<uint8_t>& codes, int64_t l, uint64_t* row) {
  int64_t words = 0;
  for (auto from = codes.begin(); from != codes.end();) {  // one run of known letters after another
    const auto to = std::find(from, codes.end(), kUnknown);
    const int64_t begin = from - codes.begin(), end = to - codes.begin() - l + 1;
    for (int64_t p = begin; p < end; p += 64 - p % 64) {
      const int64_t bits = std::min(end - p, 64 - p % 64);
      row[p / 64] |= (~uint64_t{0} >> (64 - bits)) << (p % 64);
      words += bits;
    }
    from = to == codes.end() ? to : to + 1;
  }
  return words;
}

}  // namespace

double HammingRule::weight(int64_t i, int64_t count) const {
  if (peak <= 0.0) return 1.0;
  const double away = double(std::abs(count / 2 - i));
  return std::min(peak, std::floor(peak * std::exp2(-away / half_life) + 1.0));
}

int HammingRule::planes() const { return std::max(1, int(std::bit_width(kmers.letters - 1))); }

// Rows of bits have one empty word before them and two after them, so that all offsets that a
// comparison reads exist.
Strand::Strand(std::vector<uint8_t> codes, const HammingRule& rule) : codes_(std::move(codes)) {
  const int64_t n = int64_t(codes_.size()), l = rule.kmers.k, words = words_for(n) + 3;
  const int planes = planes_ = rule.planes();
  places_ = std::max<int64_t>(0, n - l + 1);
  stride_ = 64 * (words - 1);
  thread_local std::vector<uint64_t> rows;
  rows.assign(size_t((planes + 1) * words), 0);
  pack_planes(codes_, planes, words, rows.data() + 1);
  words_ = mark_words(codes_, l, rows.data() + planes * words + 1);
  offsets_ = std::make_unique_for_overwrite<uint64_t[]>(size_t((planes + 1) * stride_));
  for (int k = 0; k <= planes; ++k)
    simd().pairs->offsets(rows.data() + k * words, words - 1, offsets_.get() + k * stride_);
  if (rule.peak <= 0.0) return;
  for (int64_t i = 0; i < places_; ++i) weight_.push_back(rule.weight(i, places_));
}

Strand Strand::reverse(const HammingRule& rule) const {
  std::vector<uint8_t> other(codes_.rbegin(), codes_.rend());
  for (uint8_t& code : other)
    if (code != kUnknown) code = rule.kmers.partner[code];
  Strand strand(std::move(other), rule);
  // A word has the weight of the same word on the given strand.
  strand.weight_.assign(weight_.rbegin(), weight_.rend());
  return strand;
}

PairStrand Strand::pairs() const {
  PairStrand view = {};
  const uint64_t* next = offsets_.get() + kPairRoom;
  for (int k = 0; k < planes_; ++k, next += stride_) view.planes[k] = next;
  view.words = next;
  return view;
}

Strands::Strands(const SequenceView& view, int64_t i, const HammingRule& rule)
    : Strands(view.codes(i), rule) {}

Strands::Strands(std::vector<uint8_t> codes, const HammingRule& rule) {
  strands.reserve(2);
  strands.emplace_back(std::move(codes), rule);
  if (rule.both_strands) strands.push_back(strands[0].reverse(rule));
}

const std::vector<double>& WordPairs::count(const Strands& x, const Strands& y) {
  std::fill(found_.begin(), found_.end(), 0.0);
  std::fill(pairs_.begin(), pairs_.end(), 0);
  for (const Strand& strand : y.strands)
    strand.weighted() ? compare_weighted(x.strands[0], strand)
                      : compare(x.strands[0], strand, Part::kAll);
  for (size_t c = 0; c < found_.size(); ++c) found_[c] += double(pairs_[c]);
  return found_;
}

// h(u, v) = h(v, u), and h(u, v^c) = h(v, u^c) for reverse complements. So most pairs are compared
// once and count twice.
const std::vector<double>& WordPairs::count_own(const Strands& x) {
  const Strand& own = x.strands[0];
  if (own.weighted()) return count(x, x);
  std::fill(pairs_.begin(), pairs_.end(), 0);
  compare(own, own, Part::kBehind);
  if (x.strands.size() > 1) compare(own, x.strands[1], Part::kToPartner);
  for (size_t c = 0; c < found_.size(); ++c) found_[c] = 2.0 * double(pairs_[c]);
  found_[0] += double(own.words());
  if (x.strands.size() > 1) leave_out_partners(own, x.strands[1]);
  return found_;
}

PairTask WordPairs::task(const Strand& x, const Strand& y) const {
  PairTask task = {};
  task.x = x.pairs();
  task.y = y.pairs();
  task.planes = rule_.planes();
  task.length = rule_.kmers.k;
  task.classes = int64_t(pairs_.size());
  return task;
}

// Divides the words of x into ranges of equal width, as wide as 64 letters allow.
void WordPairs::cut(const Strand& x, const Strand& y, Part part) {
  ranges_.clear();
  const int64_t most = 65 - rule_.kmers.k, count = (x.places() + most - 1) / most;
  const int64_t width = count ? (x.places() + count - 1) / count : 0;
  for (int64_t first = 0; first < x.places(); first += width) {
    const int64_t begin = part == Part::kBehind ? first + 1 : 1 - width;
    const int64_t end = part == Part::kToPartner ? y.places() - first : y.places();
    ranges_.push_back({first, std::min(width, x.places() - first), begin, end});
  }
}

void WordPairs::compare(const Strand& x, const Strand& y, Part part) {
  PairTask all = task(x, y);
  cut(x, y, part);
  if (part == Part::kToPartner) {
    // Words at positions a and b of the two strands are reverse complements if a + b = `places` -
    // 1. Bit i of the number at s = a + b - 2 i is set if a + b does not exceed that.
    if (places_ != x.places()) {
      places_ = x.places();
      to_partner_.assign(size_t(places_ + 2 * kPairRoom), 0);
      for (int64_t s = -kPairRoom; s < places_; ++s) {
        const int64_t bits = (places_ - 1 - s) / 2 + 1;
        to_partner_[s + kPairRoom] = bits < 64 ? (uint64_t{1} << bits) - 1 : ~uint64_t{0};
      }
    }
    all.some = to_partner_.data() + kPairRoom;
  }
  for (int64_t r = 0; r < int64_t(ranges_.size()); r += kRanges) {
    all.ranges = ranges_.data() + r;
    all.n_ranges = std::min(kRanges, int64_t(ranges_.size()) - r);
    simd().pairs->count(all, pairs_.data());
    check_interrupt();
  }
}

// Words and their own reverse complements were compared once, but counted twice.
void WordPairs::leave_out_partners(const Strand& x, const Strand& y) {
  std::vector<uint64_t> met(size_t(rule_.kmers.k + 1), 0);
  simd().pairs->partners(task(x, y), x.places(), met.data());
  for (size_t m = 0; m < found_.size(); ++m) found_[m] -= double(met[m]);
}

template <std::invocable<const PairFound&> VisitPair>
void WordPairs::list(PairTask task, const PairRange& range, VisitPair&& visit) {
  listed_.resize(size_t(64 * (kListed + kMostLanes)));
  task.n_ranges = 1;
  for (int64_t begin = range.begin; begin < range.end; begin += kListed) {
    const PairRange part = {range.first, range.width, begin, std::min(range.end, begin + kListed)};
    task.ranges = &part;
    const int64_t found = simd().pairs->list(task, listed_.data());
    for (int64_t f = 0; f < found; ++f) visit(listed_[f]);
    check_interrupt();
  }
}

void WordPairs::compare_weighted(const Strand& x, const Strand& y) {
  cut(x, y, Part::kAll);
  for (const PairRange& range : ranges_)
    list(task(x, y), range, [&](const PairFound& pair) {
      found_[pair.mismatches] += x.weight(pair.x) * y.weight(pair.y);
    });
}

// Words at positions a <= b of the text belong to the windows from b - places + 1 to a.
void WordPairs::count_windows(const Strands& text, int64_t n, const Visit& visit) {
  const Strand& own = text.strands[0];
  const int64_t classes = int64_t(found_.size()), all = own.places(), places = all - n + 1;
  changes_.assign(size_t((n + 1) * classes), 0.0);
  auto add = [&](int64_t a, int64_t b, int64_t mismatches, double times) {
    changes_[std::max<int64_t>(0, b - places + 1) * classes + mismatches] += times;
    changes_[(std::min(a, n - 1) + 1) * classes + mismatches] -= times;
  };
  if (places > 0) changes_[0] = double(places);  // words and themselves
  cut(own, own, Part::kBehind);
  for (PairRange range : ranges_) {
    range.end = std::min(range.end, range.first + places);
    list(task(own, own), range, [&](const PairFound& pair) {
      if (pair.y - pair.x < places) add(pair.x, pair.y, pair.mismatches, 2.0);
    });
  }
  if (text.strands.size() > 1) {
    cut(own, text.strands[1], Part::kToPartner);
    for (PairRange range : ranges_) {
      range.begin = std::max(range.begin, all - range.first - 2 * range.width - places);
      list(task(own, text.strands[1]), range, [&](const PairFound& pair) {
        const int64_t b = all - 1 - pair.y, apart = b - pair.x;
        if (apart >= 0 && apart < places) add(pair.x, b, pair.mismatches, apart ? 2.0 : 1.0);
      });
    }
  }
  std::fill(found_.begin(), found_.end(), 0.0);
  for (int64_t w = 0; w < n; ++w) {
    for (int64_t m = 0; m < classes; ++m) found_[m] += changes_[w * classes + m];
    visit(w, found_);
  }
}

}  // namespace kw

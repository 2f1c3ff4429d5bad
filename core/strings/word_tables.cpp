#include "strings/word_tables.h"

#include <algorithm>

#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kPositionParts = 8;  // parts of the positions, each filled by one thread

}  // namespace

// The unpacked letters of one sequence; positions outside have unknown letters.
class WordTables::Sequence {
 public:
  Sequence(const PlaneTable& a, const std::vector<double>& background)
      : a_(a), background_(background), codes_(a.length), chances_(a.length) {}

  void read(int64_t i) {
    for (int64_t p = 0; p < a_.length; ++p) {
      int code = 0;
      for (int64_t plane = 0; plane < a_.planes; ++plane)
        code |= int(a_.letters(i)[plane * a_.words + p / 64] >> (p % 64) & 1) << plane;
      codes_[p] = a_.hides(i, p) ? -1 : code;
      chances_[p] = a_.hides(i, p) ? 0.0 : background_[code];
    }
  }

  int code(int64_t p) const { return p < 0 || p >= a_.length ? -1 : codes_[p]; }
  double chance(int64_t p) const { return p < 0 || p >= a_.length ? 0.0 : chances_[p]; }

 private:
  const PlaneTable& a_;
  const std::vector<double>& background_;
  std::vector<int> codes_;
  std::vector<double> chances_;
};

WordTables::WordTables(WdWordRule rule, const PlaneTable& a, const double* delta, int64_t longest,
                       int64_t begin, int64_t end, int threads)
    : rule_(std::move(rule)),
      length_(a.length),
      longest_(longest),
      begin_(begin),
      end_(end),
      powers_(longest + 1, 1),
      tables_(longest) {
  for (int64_t k = 1; k <= longest; ++k) powers_[k] = powers_[k - 1] * rule_.letters;
  for (int64_t k = 1; k < longest; ++k) tables_[k].resize((end - begin) * powers_[k]);
  last_.resize((end - begin) * powers_[longest]);
  run_team(threads, kPositionParts, [&](int64_t part, int) {
    const int64_t size = end - begin;
    const int64_t from = begin + size * part / kPositionParts,
                  to = begin + size * (part + 1) / kPositionParts;
    Sequence sequence(a, rule_.background);
    for (int64_t i = 0; from < to && i < a.n; ++i) {
      if (delta[i] == 0.0) continue;
      sequence.read(i);
      for (size_t s = 0; s < rule_.shifts.size(); ++s)
        add(sequence, int64_t(s), delta[i], from, to);
      if (i % 256 == 0) check_interrupt();
    }
  });
}

// Adds the contribution of a sequence to intervals that begin in [from, to). Words are followed
// from far enough to the left that all words that reach these intervals are included.
void WordTables::add(const Sequence& sequence, int64_t s, double delta, int64_t from, int64_t to) {
  const int64_t degree = rule_.degree, shift = rule_.shifts[s];
  thread_local std::vector<double> right, left, both, before_left, before_both;
  for (auto* sums : {&right, &left, &both, &before_left, &before_both}) sums->assign(degree + 2, 0);
  for (int64_t p = std::max<int64_t>(0, from - degree); p < to; ++p) {
    const double* weights = rule_.weights.data() + (s * length_ + p) * degree;
    const double before = p > 0 ? sequence.chance(p - 1 + shift) : 0.0;
    for (int64_t k = degree; k >= 1; --k) {
      const double own = p + k <= length_ ? weights[k - 1] : 0.0;
      const double after = p + k < length_ ? sequence.chance(p + k + shift) : 0.0;
      right[k] = own + after * right[k + 1];
      left[k] = own + before * before_left[k + 1];
      both[k] = right[k] + before * before_both[k + 1];
    }
    left.swap(before_left);
    both.swap(before_both);
    if (p < from) continue;
    int64_t word = 0;
    for (int64_t k = 1; k <= std::min({longest_, degree, end_ - p}); ++k) {
      const int code = sequence.code(p + k - 1 + shift);
      if (code < 0) break;
      word = word * rule_.letters + code;
      if (k == longest_) {
        last_[(p - begin_) * powers_[k] + word] += delta * before_both[k];
        break;
      }
      Sums& sums = tables_[k][(p - begin_) * powers_[k] + word];
      sums.exact += delta * weights[k - 1];
      sums.left += delta * before_left[k];
      sums.right += delta * right[k];
      sums.both += delta * before_both[k];
    }
  }
}

double WordTables::bytes(int64_t letters, int64_t longest, int64_t positions) {
  double words = 1.0, bytes = 0.0;
  for (int64_t k = 1; k <= longest; ++k) {
    words *= double(letters);
    bytes += words * double(k < longest ? sizeof(Sums) : sizeof(double));
  }
  return bytes * double(positions);
}

void WordTables::weights(int64_t k, int64_t p, double* out) const {
  const int64_t letters = rule_.letters;
  // prefix: words that begin at p or before and end in [p, p + k - 1).
  std::vector<double> prefix(1, 0.0), suffix(1, 0.0), inner(1, 0.0), next, ending, longer;
  for (int64_t m = 1; m < k; ++m) {
    next.resize(powers_[m]);
    for (int64_t u = 0; u < powers_[m]; ++u) next[u] = prefix[u / letters] + at(m, p)[u].left;
    prefix.swap(next);
  }
  // suffix: words that begin in (p, p + k) and end at p + k or later.
  for (int64_t m = 1; m < k; ++m) {
    next.resize(powers_[m]);
    const Sums* sums = at(m, p + k - m);
    for (int64_t u = 0; u < powers_[m]; ++u) next[u] = suffix[u % powers_[m - 1]] + sums[u].right;
    suffix.swap(next);
  }
  // inner: words inside (p, p + k - 1), by increasing end.
  for (int64_t m = 1; m + 1 < k; ++m) {
    ending.assign(1, 0.0);  // words that end at p + 1 + m
    for (int64_t t = 1; t <= m; ++t) {
      longer.resize(powers_[t]);
      const Sums* sums = at(t, p + 1 + m - t);
      for (int64_t u = 0; u < powers_[t]; ++u)
        longer[u] = ending[u % powers_[t - 1]] + sums[u].exact;
      ending.swap(longer);
    }
    next.resize(powers_[m]);
    for (int64_t u = 0; u < powers_[m]; ++u) next[u] = inner[u / letters] + ending[u];
    inner.swap(next);
  }
  for (int64_t u = 0; u < powers_[k]; ++u) {
    const double whole = k == longest_ ? last_[(p - begin_) * powers_[k] + u] : at(k, p)[u].both;
    out[u] = whole + prefix[u / letters] + suffix[k > 0 ? u % powers_[k - 1] : 0] +
             (k > 1 ? inner[u % powers_[k - 1] / letters] : 0.0);
  }
}

}  // namespace kw

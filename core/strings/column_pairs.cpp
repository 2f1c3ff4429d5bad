#include "strings/column_pairs.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "simd/simd.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kRoomOfBlocks = int64_t{64} << 20;  // bytes of a block
// Cost of a sequence that is compared by itself, relative to one in a block.
constexpr double kByItself = 4.0;

// Bit p of the result is bit k of the code of letter p, for the letters of a 64-letter word.
uint64_t plane_bits(const SequenceView& view, int64_t i, int64_t word, int k) {
  const int64_t start = view.start_of(i), length = view.length_of(i);
  if (view.planes) return view.words[start + k * words_for(length) + word];
  uint64_t bits = 0;
  const uint8_t* codes = view.bytes + start + 64 * word;
  for (int64_t p = 0, end = std::min<int64_t>(64, length - 64 * word); p < end; ++p)
    bits |= uint64_t(codes[p] >> k & 1) << p;
  return bits;
}

// Bit p of the result is set if letter p is known.
uint64_t known_bits(const SequenceView& view, int64_t i, int64_t word) {
  const int64_t start = view.start_of(i), left = view.length_of(i) - 64 * word;
  uint64_t bits = left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
  if (view.planes) return view.unknown ? bits & ~view.unknown[start / 2 + word] : bits;
  const uint8_t* codes = view.bytes + start + 64 * word;
  for (int64_t p = 0; p < std::min<int64_t>(64, left); ++p)
    if (codes[p] == kUnknown) bits &= ~(uint64_t{1} << p);
  return bits;
}

// The bits in which the code of every letter differs from its complement; -1 if they depend on the
// letter.
int flipped_bits(const KmerRule& kmers) {
  const int bits = kmers.partner[0];
  for (uint64_t code = 0; code < kmers.letters; ++code)
    if ((int(code) ^ bits) != kmers.partner[code]) return -1;
  return bits;
}

}  // namespace

void Columns::fill(const SequenceView& view, IdSpan sequences) {
  const int64_t count = int64_t(sequences.size());
  const ColumnLoops& loops = *simd().column_pairs;
  const int64_t lanes = loops.lanes;
  const int planes = rule_.planes();
  int64_t letters = 0;
  for (int64_t i = 0; i < count; ++i) letters = std::max(letters, view.length_of(sequences[i]));
  places_ = std::max<int64_t>(0, letters - rule_.kmers.k + 1);
  stride_ = (64 * words_for(letters) + 2 * kPairRoom) * lanes;
  vectors_.assign(size_t((planes + 2) * stride_), 0);
  std::vector<uint64_t> bits(size_t(64 * lanes));
  for (int64_t group = 0; group < words_for(letters); ++group)
    for (int k = 0; k <= planes; ++k) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t sequence = sequences[i];
        if (group >= words_for(view.length_of(sequence)))
          bits[i] = 0;
        else
          bits[i] =
              k < planes ? plane_bits(view, sequence, group, k) : known_bits(view, sequence, group);
      }
      loops.transpose(bits.data(), row(k) + 64 * group * lanes);
    }
  loops.mark(row(planes), rule_.kmers.k, places_, row(planes + 1));
}

// Row k of vectors, with padding at both ends.
uint64_t* Columns::row(int64_t k) {
  return vectors_.data() + k * stride_ + kPairRoom * simd().column_pairs->lanes;
}

ColumnStrand Columns::strand() const {
  ColumnStrand strand = {};
  const uint64_t* next = vectors_.data() + kPairRoom * simd().column_pairs->lanes;
  const int planes = rule_.planes();
  for (int k = 0; k < planes; ++k) strand.planes[k] = next + k * stride_;
  strand.words = next + (planes + 1) * stride_;
  return strand;
}

ColumnPairs::ColumnPairs(const HammingRule& rule, int64_t classes)
    : rule_(rule),
      flipped_(rule.both_strands ? flipped_bits(rule.kmers) : 0),
      x_(rule),
      y_(rule),
      found_(classes) {
  task_.n_planes = rule.planes();
  task_.length = rule.kmers.k;
  task_.classes = classes;
  for (int k = 0; k < task_.n_planes; ++k) task_.flipped[k] = flipped_ >> k & 1 ? ~uint64_t{0} : 0;
}

int64_t ColumnPairs::width() const { return 64 * simd().column_pairs->lanes; }

bool ColumnPairs::pays(double pairs, int64_t letters) const {
  const int64_t bytes = 8 * simd().column_pairs->lanes * (rule_.planes() + 2) * letters;
  return rule_.peak <= 0.0 && flipped_ >= 0 && bytes <= kRoomOfBlocks &&
         kByItself * pairs >= double(width());
}

void ColumnPairs::start(const Columns& x, const Columns& y, int64_t first_digit) {
  task_.x = x.strand();
  task_.y = y.strand();
  task_.first_digit = first_digit;
  task_.digits = std::max(5, 2 + int(std::bit_width(uint64_t(x.places() * y.places()))));
  const int64_t groups = (task_.classes + kClassGroup - 1) / kClassGroup;
  counters_.assign(size_t(groups * kClassGroup * task_.digits * simd().column_pairs->lanes), 0);
}

void ColumnPairs::compare(const ColumnDiagonal& diagonal) {
  simd().column_pairs->count(task_, diagonal, counters_.data());
  check_interrupt();
}

void ColumnPairs::read(int64_t count, const Visit& visit) {
  const int64_t lanes = simd().column_pairs->lanes;
  numbers_.resize(size_t(task_.classes * width()));
  for (int64_t m = 0; m < task_.classes; ++m)
    simd().column_pairs->read(counters_.data() + m * task_.digits * lanes, task_.digits,
                              numbers_.data() + m * width());
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t m = 0; m < task_.classes; ++m) found_[m] = double(numbers_[m * width() + i]);
    visit(i, found_);
  }
}

void ColumnPairs::count(const SequenceView& a, const SequenceView& b, const SequencePairs& pairs,
                        const Visit& visit) {
  double work = 0.0;
  int64_t longest_row = 0, longest_column = 0;
  for (size_t i = 0; i < pairs.rows.size(); ++i) {
    const int64_t row = a.length_of(pairs.rows[i]), column = b.length_of(pairs.columns[i]);
    work += double(row) * double(column);
    longest_row = std::max(longest_row, row);
    longest_column = std::max(longest_column, column);
  }
  const double whole = work / (double(longest_row) * double(longest_column));
  if (pays(whole, std::max(longest_row, longest_column)))
    count_block(a, b, pairs, visit);
  else
    count_alone(a, b, pairs, visit);
}

void ColumnPairs::count_alone(const SequenceView& a, const SequenceView& b,
                              const SequencePairs& pairs, const Visit& visit) {
  WordPairs alone(rule_, task_.classes);
  HammingRule one_strand = rule_;
  one_strand.both_strands = false;  // comparing with both strands of the columns is enough
  std::map<int64_t, Strands> columns;
  std::optional<Strands> own;
  for (size_t i = 0; i < pairs.rows.size(); ++i) {
    if (i == 0 || pairs.rows[i] != pairs.rows[i - 1]) own.emplace(a, pairs.rows[i], one_strand);
    const auto column = columns.try_emplace(pairs.columns[i], b, pairs.columns[i], rule_).first;
    visit(int64_t(i), alone.count(*own, column->second));
    check_interrupt();
  }
}

void ColumnPairs::count_block(const SequenceView& a, const SequenceView& b,
                              const SequencePairs& pairs, const Visit& visit) {
  const int64_t count = int64_t(pairs.rows.size());
  x_.fill(a, pairs.rows);
  y_.fill(b, pairs.columns);
  start(x_, y_, 0);
  const int64_t m = x_.places(), n = y_.places();
  for (int64_t shift = 1 - m; shift < n && m > 0; ++shift) {
    const int64_t at = std::max<int64_t>(0, -shift), other = std::max<int64_t>(0, shift);
    compare({at, other, std::min(m - at, n - other), false, false});
  }
  for (int64_t sum = 0; rule_.both_strands && sum < m + n - 1 && m > 0 && n > 0; ++sum) {
    const int64_t at = std::min(sum, m - 1), other = sum - at;
    compare({at, other, std::min(at + 1, n - other), true, false});
  }
  read(count, visit);
}

void ColumnPairs::count_own(const SequenceView& view, std::vector<int64_t> sequences,
                            const Visit& visit) {
  std::stable_sort(sequences.begin(), sequences.end(),
                   [&](int64_t i, int64_t j) { return view.length_of(i) > view.length_of(j); });
  auto length = [&](int64_t i) { return view.length_of(sequences[i]); };
  auto work = [&](int64_t i) { return double(length(i)) * double(length(i)); };
  WordPairs alone(rule_, task_.classes);
  const int64_t n = int64_t(sequences.size());
  double together = 0.0;  // work of the pairs in the block that begins here
  for (int64_t i = 0, end = 0; i < n;) {
    for (; end < std::min(n, i + width()); ++end) together += work(end);
    if (pays(together / work(i), length(i))) {
      count_own_block(view, IdSpan(sequences).subspan(i, end - i), visit);
      i = end;
      together = 0.0;
    } else {
      visit(sequences[i], alone.count_own(Strands(view, sequences[i], rule_)));
      together -= work(i++);
    }
    check_interrupt();
  }
}

// h(u, v) = h(v, u), and h(u, v^c) = h(v, u^c) for reverse complements u^c, v^c. So only pairs at
// positions a <= b are compared, and count twice.
void ColumnPairs::count_own_block(const SequenceView& view, IdSpan sequences, const Visit& visit) {
  const int64_t count = int64_t(sequences.size());
  x_.fill(view, sequences);
  start(x_, x_, 1);
  const int64_t places = x_.places();
  for (int64_t p = 0; p < places; ++p)  // words and themselves
    simd().column_pairs->add(task_.x.words + p * simd().column_pairs->lanes, counters_.data());
  for (int64_t apart = 1; apart < places; ++apart)
    compare({0, apart, places - apart, false, false});
  for (int64_t sum = 0; rule_.both_strands && sum < 2 * places - 1; ++sum) {
    const int64_t a = sum / 2, b = sum - a;
    compare({a, b, std::min(a + 1, places - b), true, a == b});
  }
  read(count, [&](int64_t i, const std::vector<double>& found) { visit(sequences[i], found); });
}

}  // namespace kw

#include "strings/own_pairs.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simd/simd.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kRoomOfBlocks = int64_t{64} << 20;  // bytes that a block may take
// A sequence by itself takes so many times as long as one in a block.
constexpr double kByItself = 4.0;

// Bit p of the result: bit k of the code of letter p, for the letters of a word of 64.
uint64_t plane_bits(const SequenceView& view, int64_t i, int64_t word, int k) {
  const int64_t start = view.start_of(i), length = view.length_of(i);
  if (view.planes) return view.words[start + k * words_for(length) + word];
  uint64_t bits = 0;
  const uint8_t* codes = view.bytes + start + 64 * word;
  for (int64_t p = 0, end = std::min<int64_t>(64, length - 64 * word); p < end; ++p)
    bits |= uint64_t(codes[p] >> k & 1) << p;
  return bits;
}

// Bit p of the result: whether letter p is known.
uint64_t known_bits(const SequenceView& view, int64_t i, int64_t word) {
  const int64_t start = view.start_of(i), left = view.length_of(i) - 64 * word;
  uint64_t bits = left < 64 ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
  if (view.planes) return view.unknown ? bits & ~view.unknown[start / 2 + word] : bits;
  const uint8_t* codes = view.bytes + start + 64 * word;
  for (int64_t p = 0; p < std::min<int64_t>(64, left); ++p)
    if (codes[p] == kUnknown) bits &= ~(uint64_t{1} << p);
  return bits;
}

// By which bits all letters differ from their partners; -1 where it is not the same for all.
int flipped_bits(const KmerRule& kmers) {
  const int bits = kmers.partner[0];
  for (uint64_t code = 0; code < kmers.letters; ++code)
    if ((int(code) ^ bits) != kmers.partner[code]) return -1;
  return bits;
}

}  // namespace

void OwnPairs::count(const SequenceView& view, std::vector<int64_t> sequences, const Visit& visit) {
  const int64_t width = 64 * simd().own_pairs->lanes;
  auto length = [&](int64_t i) { return view.length_of(sequences[i]); };
  auto work = [&](int64_t i) { return double(length(i)) * double(length(i)); };
  std::stable_sort(sequences.begin(), sequences.end(),
                   [&](int64_t i, int64_t j) { return view.length_of(i) > view.length_of(j); });
  const bool fits = rule_.peak <= 0.0 && (!rule_.both_strands || flipped_bits(rule_.kmers) >= 0);
  WordPairs alone(rule_, int64_t(found_.size()));
  const int64_t n = int64_t(sequences.size());
  double together = 0.0;  // work of those in a block that begins here
  for (int64_t i = 0, end = 0; i < n;) {
    for (; end < std::min(n, i + width); ++end) together += work(end);
    const int64_t bytes = 8 * simd().own_pairs->lanes * (rule_.planes() + 2) * length(i);
    const bool block =
        fits && bytes <= kRoomOfBlocks && kByItself * together >= double(width) * work(i);
    if (block) {
      count_block(view, sequences.data() + i, end - i, visit);
      i = end;
      together = 0.0;
    } else {
      visit(sequences[i], alone.count_own(Strands(view, sequences[i], rule_)));
      together -= work(i++);
    }
    check_interrupt();
  }
}

void OwnPairs::count_block(const SequenceView& view, const int64_t* sequences, int64_t count,
                           const Visit& visit) {
  const OwnPairLoops& loops = *simd().own_pairs;
  const int64_t letters = view.length_of(sequences[0]), classes = int64_t(found_.size());
  const int64_t places = std::max<int64_t>(0, letters - rule_.kmers.k + 1);
  task_.n_planes = rule_.planes();
  task_.length = rule_.kmers.k;
  task_.classes = classes;
  task_.digits = std::max(5, 2 + int(std::bit_width(uint64_t(places * places))));
  fill(view, sequences, count, letters, places);
  const int64_t counted = (classes + kClassGroup - 1) / kClassGroup * kClassGroup;
  counters_.assign(size_t(counted * task_.digits * loops.lanes), 0);
  compare(places);
  const int64_t width = 64 * loops.lanes;
  std::vector<uint64_t> numbers(size_t(classes * width));
  for (int64_t m = 0; m < classes; ++m)
    loops.read(counters_.data() + m * task_.digits * loops.lanes, task_.digits,
               numbers.data() + m * width);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t m = 0; m < classes; ++m) found_[m] = double(numbers[m * width + i]);
    visit(sequences[i], found_);
  }
}

// Bits of letters, of known ones, and of words: a row of vectors each, with room at both ends.
void OwnPairs::fill(const SequenceView& view, const int64_t* sequences, int64_t count,
                    int64_t letters, int64_t places) {
  const OwnPairLoops& loops = *simd().own_pairs;
  const int64_t lanes = loops.lanes, groups = words_for(letters), planes = rule_.planes();
  const int64_t stride = (64 * groups + 2 * kPairRoom) * lanes;
  vectors_.assign(size_t((planes + 2) * stride), 0);
  auto row = [&](int64_t k) { return vectors_.data() + k * stride + kPairRoom * lanes; };
  std::vector<uint64_t> bits(size_t(64 * lanes));
  for (int64_t group = 0; group < groups; ++group)
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
  loops.mark(row(planes), rule_.kmers.k, places, row(planes + 1));
  const int flipped = rule_.both_strands ? flipped_bits(rule_.kmers) : 0;
  for (int64_t k = 0; k < planes; ++k) {
    task_.planes[k] = row(k);
    task_.flipped[k] = flipped >> k & 1 ? ~uint64_t{0} : 0;
  }
  task_.words = row(planes + 1);
}

// h(u, v) = h(v, u), and h(u, partner of v) = h(v, partner of u): pairs at a <= b are met.
void OwnPairs::compare(int64_t places) {
  const OwnPairLoops& loops = *simd().own_pairs;
  for (int64_t p = 0; p < places; ++p)  // words and themselves
    loops.add(task_.words + p * loops.lanes, counters_.data());
  for (int64_t apart = 1; apart < places; ++apart) {
    loops.count(task_, {0, apart, places - apart, false, false}, counters_.data());
    check_interrupt();
  }
  for (int64_t sum = 0; rule_.both_strands && sum < 2 * places - 1; ++sum) {
    const int64_t a = sum / 2, b = sum - a;
    loops.count(task_, {a, b, std::min(a + 1, places - b), true, a == b}, counters_.data());
    check_interrupt();
  }
}

}  // namespace kw

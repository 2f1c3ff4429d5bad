// Mismatches of the words of two sequences, 64 pairs at a time. Compiled once per SIMD level; see
// level.h for the rules that follow.
//
// The number of mismatches of two words is the sum of mismatch bits along a diagonal, computed with
// bit-sliced integers (bits.h). A word of 11 letters is split into 5 + 5 + 1 letters, and one of 5
// into 2 + 2 + 1: the single letter enters as the carry of the addition.
#include "simd/pairs.h"

#include "simd/bits.h"

namespace kw {
namespace {

constexpr int kBatch = 8;       // vectors of pairs that are counted together
constexpr int kMostDigits = 6;  // digits of numbers up to 63

// Sets the digits of the number of mismatches in the `length` letters that follow each position.
template <int Digits>
inline void add_up(Bits differ, int64_t length, Bits (&digit)[Digits]) {
  digit[0] = differ;
  for (int d = 1; d < Digits; ++d) {  // from words of `half` letters to 2 half, or 2 half + 1
    const int64_t half = length >> (Digits - d);
    const uint64_t single = length >> (Digits - 1 - d) & 1;
    Bits carry = (differ >> (2 * half)) & (0 - single);
    for (int e = 0; e < d; ++e) {
      const Bits a = digit[e], b = a >> half;
      digit[e] = odd(a, b, carry);
      carry = most(a, b, carry);
    }
    digit[d] = carry;
  }
}

// Several vectors of pairs.
struct Batch {
  Bits digit[kMostDigits][kBatch];
  Bits counts[kBatch];  // bit set if the pair is counted
  int64_t first[kBatch], lane[kBatch];
  int filled = 0;
};

// A callback that processes a batch.
struct Visitor {
  virtual void visit(Batch& batch) = 0;
};

// Collects vectors, and calls the visitor for every full batch and for the last one. Digits: binary
// digits of the length of a word.
template <int Digits>
void compare_words(const PairTask& task, Visitor& visitor) {
  Batch batch;
  for (int64_t r = 0; r < task.n_ranges; ++r) {
    const PairRange range = task.ranges[r];
    Bits x[kMostPlanes];
    for (int k = 0; k < task.planes; ++k) x[k] = task.x.planes[k][range.first] - Bits{};
    const uint64_t all = range.width == 64 ? ~uint64_t{0} : (uint64_t{1} << range.width) - 1;
    const Bits words = (task.x.words[range.first] & all) - Bits{};
    for (int64_t p = range.begin; p < range.end; p += kLanes) {
      Bits differ = x[0] ^ load<Bits>(task.y.planes[0] + p);
      for (int k = 1; k < task.planes; ++k) differ |= x[k] ^ load<Bits>(task.y.planes[k] + p);
      Bits digit[Digits];
      add_up<Digits>(differ, task.length, digit);
      const int slot = batch.filled++;
      for (int d = 0; d < Digits; ++d) batch.digit[d][slot] = digit[d];
      Bits counts = words & load<Bits>(task.y.words + p);
      if (task.some) counts &= load<Bits>(task.some + range.first + p);
      batch.counts[slot] = counts;
      batch.first[slot] = range.first;
      batch.lane[slot] = p;
      if (batch.filled == kBatch) {
        visitor.visit(batch);
        batch.filled = 0;
      }
    }
  }
  if (batch.filled) visitor.visit(batch);
}

void compare(const PairTask& task, Visitor& visitor) {
  constexpr void (*kCompare[kMostDigits])(const PairTask&, Visitor&) = {
      compare_words<1>, compare_words<2>, compare_words<3>,
      compare_words<4>, compare_words<5>, compare_words<6>};
  kCompare[digits_of(int(task.length)) - 1](task, visitor);
}

// The number of set bits of each lane.
inline Bits ones(Bits v) { return sum_bytes(count_bytes(v)); }

// Counts the set bits of many vectors with a bit-sliced sum: bits are counted one by one only for
// every eighth vector (Harley and Seal, in Warren, 2007).
struct Tally {
  Bits one, two, four, eights;

  uint64_t total() const {
    const Bits lanes = 8 * eights + 4 * ones(four) + 2 * ones(two) + ones(one);
    uint64_t total = 0;
    for (int lane = 0; lane < kLanes; ++lane) total += lanes[lane];
    return total;
  }
};

// Counts the pairs of a batch whose number of mismatches has the last three binary digits M.
template <int M>
void tally(const Batch& batch, const Bits* counts, Tally& found) {
  Tally sum = found;
  auto pairs = [&](int slot) {
    return equal<M>(batch.digit[0][slot], batch.digit[1][slot], batch.digit[2][slot]) &
           counts[slot];
  };
  Bits two[4], four[2];
  for (int i = 0; i < 4; ++i) two[i] = add(sum.one, pairs(2 * i), pairs(2 * i + 1));
  for (int i = 0; i < 2; ++i) four[i] = add(sum.two, two[2 * i], two[2 * i + 1]);
  sum.eights += ones(add(sum.four, four[0], four[1]));
  found = sum;
}

using TallyOf = void (*)(const Batch&, const Bits*, Tally&);
constexpr TallyOf kTally[8] = {tally<0>, tally<1>, tally<2>, tally<3>,
                               tally<4>, tally<5>, tally<6>, tally<7>};

struct Counting : Visitor {
  explicit Counting(const PairTask& task)
      : classes(task.classes), digits(digits_of(int(task.length))) {
    for (int64_t m = 0; m < classes; ++m) tallies[m] = Tally{};
  }

  void visit(Batch& batch) override {
    for (int slot = batch.filled; slot < kBatch; ++slot) batch.counts[slot] = Bits{};
    for (int d = digits; d < 3; ++d)
      for (int slot = 0; slot < kBatch; ++slot) batch.digit[d][slot] = Bits{};
    for (int64_t eight = 0; eight < classes; eight += 8) {  // by the digits before the last three
      Bits counts[kBatch];
      memcpy(counts, batch.counts, sizeof counts);
      for (int d = 3; d < digits; ++d)
        for (int slot = 0; slot < kBatch; ++slot)
          counts[slot] &= eight >> d & 1 ? batch.digit[d][slot] : ~batch.digit[d][slot];
      for (int64_t m = eight; m < eight + 8 && m < classes; ++m)
        kTally[m % 8](batch, counts, tallies[m]);
    }
  }

  const int64_t classes;
  const int digits;
  Tally tallies[64];
};

void count(const PairTask& task, uint64_t* found) {
  Counting counting(task);
  compare(task, counting);
  for (int64_t m = 0; m < task.classes; ++m) found[m] += counting.tallies[m].total();
}

struct Listing : Visitor {
  Listing(const PairTask& task, PairFound* found)
      : classes(task.classes), digits(digits_of(int(task.length))), next(found) {}

  // The pairs with fewer than `classes` mismatches, as bits.
  Bits near(const Batch& batch, int slot) const {
    Bits less = {}, equal = ~Bits{};
    if (classes >> digits) return equal;
    for (int d = digits - 1; d >= 0; --d) {
      const Bits digit = batch.digit[d][slot];
      if (classes >> d & 1) {
        less |= equal & ~digit;
        equal &= digit;
      } else {
        equal &= ~digit;
      }
    }
    return less;
  }

  void visit(Batch& batch) override {
    for (int slot = 0; slot < batch.filled; ++slot) {
      const Bits pairs = batch.counts[slot] & near(batch, slot);
      for (unsigned lanes = lanes_with(pairs); lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        for (uint64_t left = pairs[lane]; left; left &= left - 1) {
          const int i = __builtin_ctzll(left);
          uint64_t mismatches = 0;
          for (int d = 0; d < digits; ++d) mismatches |= (batch.digit[d][slot][lane] >> i & 1) << d;
          *next++ = {int32_t(batch.first[slot] + i), int32_t(batch.lane[slot] + lane + i),
                     int32_t(mismatches)};
        }
      }
    }
  }

  const int64_t classes;
  const int digits;
  PairFound* next;
};

int64_t list(const PairTask& task, PairFound* found) {
  Listing listing(task, found);
  compare(task, listing);
  return listing.next - found;
}

void partners(const PairTask& task, int64_t places, uint64_t* found) {
  const uint64_t letters = (uint64_t{1} << task.length) - 1;
  for (int64_t i = 0, j = places - 1; i < places; ++i, --j) {
    if (!(task.x.words[i] & 1)) continue;
    uint64_t differ = 0;
    for (int k = 0; k < task.planes; ++k) differ |= task.x.planes[k][i] ^ task.y.planes[k][j];
    ++found[__builtin_popcountll(differ & letters)];
  }
}

void offsets(const uint64_t* bits, int64_t count, uint64_t* out) {
  Bits before[64 / kLanes];
  for (int s = 0; s < 64; ++s) before[s / kLanes][s % kLanes] = uint64_t(s);
  for (int64_t w = 0; w < count; ++w)
    for (int s = 0; s < 64; s += kLanes) {
      const Bits shift = before[s / kLanes];
      const Bits v =
          ((bits[w] - Bits{}) >> shift) | (((bits[w + 1] - Bits{}) << 1) << (63 - shift));
      store(v, out + 64 * w + s);
    }
}

}  // namespace

extern const PairLoops KW_JOIN(pairs_, KW_LEVEL);
const PairLoops KW_JOIN(pairs_, KW_LEVEL) = {offsets, count, list, partners};

}  // namespace kw

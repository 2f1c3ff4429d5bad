// Mismatches of words of many pairs of sequences. Compiled once per SIMD level; see level.h for the
// rules that follow.
//
// One bit of a vector belongs to one pair of sequences. The number of mismatches of a word that
// moves along a diagonal changes by one letter at each end. It is kept as a bit-sliced integer
// (bits.h), and so are the counters of pairs.
#include "simd/column_pairs.h"

#include "simd/bits.h"

namespace kw {
namespace {

#define KW_INLINE inline __attribute__((always_inline))

constexpr int kBatch = 8;   // pairs of words that are added to a counter together
constexpr int kRing = 128;  // letters that are kept: at least those of a word and a batch

// Compares the letters of a diagonal. Words are read from their first letter on; if y is on the
// other strand, from the middle of the diagonal on, where the letters of x are read backwards.
struct Letters {
  const uint64_t *x[kMostPlanes], *y[kMostPlanes];
  Bits flipped[kMostPlanes];
  int planes;
  int64_t step;

  Letters(const ColumnTask& task, const ColumnDiagonal& diagonal)
      : planes(task.n_planes), step(diagonal.other_strand ? -kLanes : kLanes) {
    const int64_t first = diagonal.a + (diagonal.other_strand ? task.length - 1 : 0);
    for (int k = 0; k < planes; ++k) {
      x[k] = task.x.planes[k] + first * kLanes;
      y[k] = task.y.planes[k] + diagonal.b * kLanes;
      flipped[k] = (diagonal.other_strand ? task.flipped[k] : 0) - Bits{};
    }
  }

  KW_INLINE Bits compare(int k, int64_t i) const {
    return odd(load<Bits>(x[k] + i * step), load<Bits>(y[k] + i * kLanes), flipped[k]);
  }
  // Compares letters [i, i + Count); a set bit of `differ` is a mismatch.
  template <int Count>
  KW_INLINE void compare(int64_t i, Bits* differ) const {
    for (int c = 0; c < Count; ++c) differ[c] = compare(0, i + c);
    for (int k = 1; k < planes; ++k)
      for (int c = 0; c < Count; ++c) differ[c] |= compare(k, i + c);
  }
};

// The number of mismatches of the word that ends at the present letter.
template <int Digits>
struct Mismatches {
  Bits digit[Digits] = {};

  // Adds 1 if a mismatch enters the word and none leaves; subtracts 1 if one leaves and none
  // enters.
  KW_INLINE void move(Bits comes, Bits goes) {
    Bits change = comes ^ goes;
    for (int d = 0; d < Digits; ++d) {
      const Bits next = and_differ(change, digit[d], goes);
      digit[d] ^= change;
      change = next;
    }
  }
};

KW_INLINE void carry_on(Bits carry, uint64_t* counter) {
  for (; lanes_with(carry); counter += kLanes) {
    const Bits digit = load<Bits>(counter);
    store(digit ^ carry, counter);
    carry &= digit;
  }
}

// An integer as a type.
template <int M>
struct At {
  static constexpr int value = M;
};
// visit(At<0>), visit(At<1>), ...
template <int Count, typename Visit>
KW_INLINE void each(Visit&& visit) {
  if constexpr (Count > 0) {
    each<Count - 1>(visit);
    visit(At<Count - 1>{});
  }
}

// Counts the words with `first`, first + 1, ... mismatches (`Classes` numbers that differ in the
// last three digits). Eight words are added at a time, so that carries rarely run far (Harley and
// Seal, in Warren, 2007). No word begins after the last letter.
template <int Digits, int Classes>
void count_classes(const ColumnTask& task, const ColumnDiagonal& diagonal, int64_t first,
                   uint64_t* counters) {
  const Letters letters(task, diagonal);
  const int64_t step = diagonal.other_strand ? -kLanes : kLanes, length = task.length;
  const uint64_t* x = task.x.words + diagonal.a * kLanes;
  const uint64_t* y = task.y.words + diagonal.b * kLanes;
  Bits ring[kRing], above[Digits];
  for (int d = 3; d < Digits; ++d) above[d] = (first >> d & 1 ? 0 : ~uint64_t{0}) - Bits{};
  ring[kRing - 1] = Bits{};  // before the first letter
  Mismatches<Digits> sum;
  auto pairs_of = [&](int64_t i) __attribute__((always_inline)) {
    Bits pairs = load<Bits>(x + i * step) & load<Bits>(y + i * kLanes);
    for (int d = 3; d < Digits; ++d) pairs = and_differ(pairs, sum.digit[d], above[d]);
    return pairs;
  };
  const int64_t skipped = diagonal.from_partner;
  for (int64_t i = 0; i < length - 1 + skipped; ++i) {
    letters.compare<1>(i, &ring[i]);
    sum.move(ring[i], Bits{});
  }
  if (diagonal.from_partner) {
    const Bits pairs = pairs_of(0);
    each<Classes>([&](auto at) {
      constexpr int m = at.value;
      const Bits part = m < 4 ? pairs & ~sum.digit[2] : pairs & sum.digit[2];
      carry_on(equal<m % 4 + 4>(sum.digit[0], sum.digit[1], part),
               counters + m * task.digits * kLanes);
    });
  }
  const int64_t from = task.first_digit;
  Bits one[Classes], two[Classes], four[Classes];
  for (int m = 0; m < Classes; ++m) {
    const uint64_t* counter = counters + (m * task.digits + from) * kLanes;
    one[m] = load<Bits>(counter);
    two[m] = load<Bits>(counter + kLanes);
    four[m] = load<Bits>(counter + 2 * kLanes);
  }
  for (int64_t i = skipped; i < diagonal.count; i += kBatch) {
    Bits last[Classes], twos[Classes], fours[Classes], comes[kBatch];
    letters.compare<kBatch>(i + length - 1, comes);
    for (int s = 0; s < kBatch; ++s) ring[(i + s + length - 1) & (kRing - 1)] = comes[s];
    each<kBatch>([&](auto slot) __attribute__((always_inline)) {
      constexpr int kSlot = slot.value;
      sum.move(comes[kSlot], ring[(i + kSlot - 1) & (kRing - 1)]);
      const Bits pairs = pairs_of(i + kSlot);
      const Bits low = pairs & ~sum.digit[2], high = pairs & sum.digit[2];
      each<Classes>([&](auto at) __attribute__((always_inline)) {
        constexpr int m = at.value;
        const Bits is = equal<m % 4 + 4>(sum.digit[0], sum.digit[1], m < 4 ? low : high);
        if constexpr (kSlot % 2 == 0) {
          last[m] = is;
        } else {
          const Bits carry = add(one[m], last[m], is);
          if constexpr (kSlot % 4 == 1) {
            twos[m] = carry;
          } else {
            const Bits next = add(two[m], twos[m], carry);
            if constexpr (kSlot % 8 == 3)
              fours[m] = next;
            else
              carry_on(add(four[m], fours[m], next),
                       counters + (m * task.digits + from + 3) * kLanes);
          }
        }
      });
    });
  }
  for (int m = 0; m < Classes; ++m) {
    uint64_t* counter = counters + (m * task.digits + from) * kLanes;
    store(one[m], counter);
    store(two[m], counter + kLanes);
    store(four[m], counter + 2 * kLanes);
  }
}

// Digits for words of at most 15 letters, and for all others.
constexpr int kFewDigits = 4, kMostDigits = 6;
using CountClasses = void (*)(const ColumnTask&, const ColumnDiagonal&, int64_t, uint64_t*);
constexpr CountClasses kFew[kClassGroup] = {
    count_classes<kFewDigits, 1>, count_classes<kFewDigits, 2>, count_classes<kFewDigits, 3>,
    count_classes<kFewDigits, 4>, count_classes<kFewDigits, 5>, count_classes<kFewDigits, 6>,
    count_classes<kFewDigits, 7>, count_classes<kFewDigits, 8>};

void count(const ColumnTask& task, const ColumnDiagonal& diagonal, uint64_t* counters) {
  for (int64_t first = 0; first < task.classes; first += kClassGroup) {
    const int64_t left = task.classes - first, classes = left < kClassGroup ? left : kClassGroup;
    const CountClasses count =
        task.length >> kFewDigits ? count_classes<kMostDigits, kClassGroup> : kFew[classes - 1];
    count(task, diagonal, first, counters + first * task.digits * kLanes);
  }
}

// Exchanges halves of blocks of bits, for blocks of 64, 32, ... bits (Warren, 2002).
void transpose(const uint64_t* rows, uint64_t* vectors) {
  Bits row[64];
  for (int r = 0; r < 64; ++r)
    for (int lane = 0; lane < kLanes; ++lane) row[r][lane] = rows[64 * lane + r];
  uint64_t mask = 0x00000000ffffffffull;
  for (int size = 32; size; size /= 2, mask ^= mask << size)
    for (int r = 0; r < 64; r = (r + size + 1) & ~size) {
      const Bits change = ((row[r] >> size) ^ row[r + size]) & mask;
      row[r + size] ^= change;
      row[r] ^= change << size;
    }
  for (int p = 0; p < 64; ++p) store(row[p], vectors + p * kLanes);
}

void mark(const uint64_t* known, int64_t length, int64_t places, uint64_t* words) {
  for (int64_t p = 0; p < places; ++p) {
    Bits word = ~Bits{};
    for (int64_t i = 0; i < length; ++i) word &= load<Bits>(known + (p + i) * kLanes);
    store(word, words + p * kLanes);
  }
}

void add_bits(const uint64_t* bits, uint64_t* counter) { carry_on(load<Bits>(bits), counter); }

void read(const uint64_t* counter, int64_t digits, uint64_t* numbers) {
  for (int i = 0; i < 64; ++i) {
    Bits number = {};
    for (int64_t d = 0; d < digits; ++d) number |= (load<Bits>(counter + d * kLanes) >> i & 1) << d;
    for (int lane = 0; lane < kLanes; ++lane) numbers[64 * lane + i] = number[lane];
  }
}

}  // namespace

extern const ColumnLoops KW_JOIN(column_pairs_, KW_LEVEL);
const ColumnLoops KW_JOIN(column_pairs_, KW_LEVEL) = {kLanes, transpose, mark,
                                                      count,  add_bits,  read};

}  // namespace kw

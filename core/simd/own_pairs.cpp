// Compiled once per SIMD level; see level.h for what that forbids.
//
// All is done for as many sequences at a time as a vector has bits. Letters of a diagonal that
// differ are added up to the mismatches of words as in pairs.cpp, but bits need not be moved: the
// next letter is the next vector.
#include "simd/own_pairs.h"

#include "simd/bits.h"

namespace kw {
namespace {

constexpr int kBatch = 8;              // pairs that are added to a counter together
constexpr int kTogether = 2 * kBatch;  // words of a diagonal that are compared together
constexpr int kMostDigits = digits_of(kLongestOwnWord);

// Numbers that a compiler knows.
template <int M>
struct At {
  static constexpr int value = M;
};
// visit(At<0>), visit(At<1>), ...
template <int Count, typename Visit>
inline void each(Visit&& visit) {
  if constexpr (Count > 0) {
    each<Count - 1>(visit);
    visit(At<Count - 1>{});
  }
}

// The mismatches in L letters from each of N on.
template <int L, int N>
inline void windows(const Bits* differ, Bits (*sum)[N]) {
  if constexpr (L == 1) {
    for (int i = 0; i < N; ++i) sum[0][i] = differ[i];
  } else {
    constexpr int kHalf = L / 2, kDigits = digits_of(kHalf), kMore = N + kHalf;
    Bits half[kDigits][kMore];
    windows<kHalf, kMore>(differ, half);
    for (int i = 0; i < N; ++i) {
      Bits carry = {};
      if constexpr (L % 2) carry = differ[i + L - 1];
      for (int d = 0; d < kDigits; ++d) {
        const Bits a = half[d][i], b = half[d][i + kHalf];
        sum[d][i] = odd(a, b, carry);
        carry = most(a, b, carry);
      }
      sum[kDigits][i] = carry;
    }
  }
}

// A vector of a row that is `step` vectors away from the one before.
struct Row {
  const uint64_t* at;
  int64_t step;

  Bits operator[](int64_t i) const { return load<Bits>(at + i * step * kLanes); }
};

inline void carry_on(Bits carry, int64_t digits, uint64_t* counter) {
  for (int64_t d = 0; d < digits; ++d) {
    const Bits digit = load<Bits>(counter + d * kLanes);
    store(digit ^ carry, counter + d * kLanes);
    carry &= digit;
    uint64_t left = 0;
    for (int64_t lane = 0; lane < kLanes; ++lane) left |= carry[lane];
    if (!left) return;
  }
}

// Pairs of a batch: their mismatches in binary digits, and whether they count.
struct Batch {
  Bits digit[kMostDigits][kTogether];
  Bits counts[kTogether];
};

// Adds pairs to the counters of `Classes` numbers of mismatches, by their last three digits. Bits
// are added before they are carried on, so that most sums have three digits (Harley and Seal, in
// Warren, 2007).
template <int Classes>
void tally(const Batch& batch, const Bits* counts, int first, int64_t digits, uint64_t* counters) {
  Bits one[Classes], two[Classes], four[Classes], twos[Classes], fours[Classes], eight[Classes];
  for (int m = 0; m < Classes; ++m) {
    const uint64_t* counter = counters + (m * digits + 1) * kLanes;  // each pair is 2
    one[m] = load<Bits>(counter);
    two[m] = load<Bits>(counter + kLanes);
    four[m] = load<Bits>(counter + 2 * kLanes);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kBatch / 2; ++i) {
    const int s = first + 2 * i;
    const Bits d0 = batch.digit[0][s], e0 = batch.digit[0][s + 1], d1 = batch.digit[1][s],
               e1 = batch.digit[1][s + 1], d2 = batch.digit[2][s], e2 = batch.digit[2][s + 1];
    const Bits d = counts[s], e = counts[s + 1];
    const Bits low[2] = {d & ~d2, e & ~e2}, high[2] = {d & d2, e & e2};
    each<Classes>([&](auto at) {
      constexpr int m = at.value, M = m % 4 + 4;
      const Bits* part = m < 4 ? low : high;
      const Bits carry = add(one[m], equal<M>(d0, d1, part[0]), equal<M>(e0, e1, part[1]));
      if (i % 2 == 0) {
        twos[m] = carry;
      } else {
        const Bits next = add(two[m], twos[m], carry);
        if (i == 1)
          fours[m] = next;
        else
          eight[m] = add(four[m], fours[m], next);
      }
    });
  }
  for (int m = 0; m < Classes; ++m) {
    uint64_t* counter = counters + (m * digits + 1) * kLanes;
    store(one[m], counter);
    store(two[m], counter + kLanes);
    store(four[m], counter + 2 * kLanes);
    carry_on(eight[m], digits - 4, counter + 3 * kLanes);
  }
}

using TallyOf = void (*)(const Batch&, const Bits*, int, int64_t, uint64_t*);
constexpr TallyOf kTally[8] = {tally<1>, tally<2>, tally<3>, tally<4>,
                               tally<5>, tally<6>, tally<7>, tally<8>};

// Words from `a` on, one letter after the other, with words from b on or from b back.
template <int L>
void compare(const OwnPairTask& task, int64_t a, int64_t b, bool other_strand, Batch& batch) {
  constexpr int kLetters = kTogether + L - 1;
  const int64_t step = other_strand ? -1 : 1, ahead = other_strand ? L - 1 : 0;
  Bits differ[kLetters];
  for (int k = 0; k < task.n_planes; ++k) {
    const Row x = {task.planes[k] + a * kLanes, 1};
    const Row y = {task.planes[k] + (b + ahead) * kLanes, step};
    const Bits flipped = (other_strand ? task.flipped[k] : 0) - Bits{};
    if (k == 0)
      for (int i = 0; i < kLetters; ++i) differ[i] = odd(x[i], y[i], flipped);
    else
      for (int i = 0; i < kLetters; ++i) differ[i] |= odd(x[i], y[i], flipped);
  }
  windows<L, kTogether>(differ, batch.digit);
  const Row x = {task.words + a * kLanes, 1}, y = {task.words + b * kLanes, step};
  for (int s = 0; s < kTogether; ++s) batch.counts[s] = x[s] & y[s];
}

template <int Last, int... Lengths>
struct Upto : Upto<Last - 1, Last, Lengths...> {};
template <int... Lengths>
struct Upto<0, Lengths...> {
  static constexpr void (*of[])(const OwnPairTask&, int64_t, int64_t, bool,
                                Batch&) = {compare<Lengths>...};
};

void count(const OwnPairTask& task, const OwnPairDiagonal& diagonal, uint64_t* counters) {
  const auto compare = Upto<kLongestOwnWord>::of[task.length - 1];
  const int digits = digits_of(int(task.length));
  Batch batch = {};
  for (int64_t i = 0; i < diagonal.count; i += kTogether) {
    const bool other = diagonal.other_strand;
    compare(task, diagonal.a + i, other ? diagonal.b - i : diagonal.b + i, other, batch);
    const int64_t left = diagonal.count - i;
    Bits partners = {};
    for (int64_t s = left; s < kTogether; ++s) batch.counts[s] = Bits{};
    if (diagonal.ends_at_partner && left <= kTogether) {
      partners = batch.counts[left - 1];
      batch.counts[left - 1] = Bits{};
    }
    for (int64_t eight = 0; eight < task.classes; eight += 8) {
      const int64_t classes = task.classes - eight < 8 ? task.classes - eight : 8;
      uint64_t* own = counters + eight * task.digits * kLanes;
      Bits counts[kTogether];
      memcpy(counts, batch.counts, sizeof counts);
      for (int d = 3; d < digits; ++d)
        for (int s = 0; s < kTogether; ++s)
          counts[s] &= eight >> d & 1 ? batch.digit[d][s] : ~batch.digit[d][s];
      for (int first = 0; first < kTogether && first < left; first += kBatch)
        kTally[classes - 1](batch, counts, first, task.digits, own);
    }
    if (diagonal.ends_at_partner && left <= kTogether)
      for (int64_t m = 0; m < task.classes; ++m) {
        Bits is = partners;
        for (int d = 0; d < digits; ++d)
          is &= m >> d & 1 ? batch.digit[d][left - 1] : ~batch.digit[d][left - 1];
        carry_on(is, task.digits, counters + m * task.digits * kLanes);
      }
  }
}

// Halves of blocks of bits change places, in blocks of 64, 32, ... (Warren, 2002).
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

void add_bits(const uint64_t* bits, int64_t digits, uint64_t* counter) {
  carry_on(load<Bits>(bits), digits, counter);
}

void read(const uint64_t* counter, int64_t digits, uint64_t* numbers) {
  for (int i = 0; i < 64; ++i) {
    Bits number = {};
    for (int64_t d = 0; d < digits; ++d)
      number |= (load<Bits>(counter + d * kLanes) >> i & 1) << d;
    for (int lane = 0; lane < kLanes; ++lane) numbers[64 * lane + i] = number[lane];
  }
}

}  // namespace

extern const OwnPairLoops KW_JOIN(own_pairs_, KW_LEVEL);
const OwnPairLoops KW_JOIN(own_pairs_, KW_LEVEL) = {kLanes, transpose, mark, count, add_bits, read};

}  // namespace kw

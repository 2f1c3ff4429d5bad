// Bit-sliced integers: digit d of many small numbers is one bit vector, so that logical operations
// add one number for every bit position at once. For files that are compiled once per SIMD level;
// see level.h.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd/level.h"

namespace kw {
namespace {

typedef uint64_t Bits __attribute__((vector_size(kLanes * 8)));

// The sum of three bits: its low digit (parity), and its carry (majority).
#if defined(__AVX512BW__)
inline Bits odd(Bits a, Bits b, Bits c) {
  return (Bits)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0x96);
}
inline Bits most(Bits a, Bits b, Bits c) {
  return (Bits)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0xe8);
}
// Mask of the positions at which three digits, lowest first, are the number M.
template <int M>
inline Bits equal(Bits a, Bits b, Bits c) {
  return (Bits)_mm512_ternarylogic_epi64((__m512i)c, (__m512i)b, (__m512i)a, 1 << M);
}
// a & (b ^ c)
inline Bits and_differ(Bits a, Bits b, Bits c) {
  return (Bits)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0x60);
}
#else
inline Bits odd(Bits a, Bits b, Bits c) { return a ^ b ^ c; }
inline Bits most(Bits a, Bits b, Bits c) { return (a & b) | ((a ^ b) & c); }
template <int M>
inline Bits equal(Bits a, Bits b, Bits c) {
  return (M & 1 ? a : ~a) & (M & 2 ? b : ~b) & (M & 4 ? c : ~c);
}
inline Bits and_differ(Bits a, Bits b, Bits c) { return a & (b ^ c); }
#endif

// A bit for each lane with a nonzero value.
inline unsigned lanes_with(Bits bits) {
#if defined(__AVX512BW__)
  return _mm512_test_epi64_mask((__m512i)bits, (__m512i)bits);
#elif defined(__AVX2__)
  const __m256i none = _mm256_cmpeq_epi64((__m256i)bits, _mm256_setzero_si256());
  return 15u ^ unsigned(_mm256_movemask_pd((__m256d)none));
#else
  unsigned lanes = 0;
  for (int lane = 0; lane < kLanes; ++lane) lanes |= unsigned(bits[lane] != 0) << lane;
  return lanes;
#endif
}

// Adds two bit vectors to a digit of a sum; returns the carry.
inline Bits add(Bits& sum, Bits a, Bits b) {
  const Bits carry = most(sum, a, b);
  sum = odd(sum, a, b);
  return carry;
}

constexpr int digits_of(int number) { return number ? 1 + digits_of(number / 2) : 0; }

}  // namespace
}  // namespace kw

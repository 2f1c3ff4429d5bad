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

// The number of set bits of each byte.
inline Bits count_bytes(Bits v) {
#if defined(__AVX2__)
  const Bits low = v & 0x0f0f0f0f0f0f0f0full, high = (v >> 4) & 0x0f0f0f0f0f0f0f0full;
  Bits of_nibble;  // numbers of set bits of 0, 1, ..., 15, one byte each
  for (int lane = 0; lane < kLanes; ++lane)
    of_nibble[lane] = lane % 2 ? 0x0403030203020201ull : 0x0302020102010100ull;
#if defined(__AVX512BW__)
  return (Bits)_mm512_add_epi8(_mm512_shuffle_epi8((__m512i)of_nibble, (__m512i)low),
                               _mm512_shuffle_epi8((__m512i)of_nibble, (__m512i)high));
#else
  return (Bits)_mm256_add_epi8(_mm256_shuffle_epi8((__m256i)of_nibble, (__m256i)low),
                               _mm256_shuffle_epi8((__m256i)of_nibble, (__m256i)high));
#endif
#else
  v = v - ((v >> 1) & 0x5555555555555555ull);
  v = (v & 0x3333333333333333ull) + ((v >> 2) & 0x3333333333333333ull);
  return (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
#endif
}

// The sum of the eight bytes of each lane. At most 31 results of `count_bytes` may be added before,
// so that no byte overflows.
inline Bits sum_bytes(Bits v) {
#if defined(__AVX512BW__)
  return (Bits)_mm512_sad_epu8((__m512i)v, _mm512_setzero_si512());
#elif defined(__AVX2__)
  return (Bits)_mm256_sad_epu8((__m256i)v, _mm256_setzero_si256());
#elif defined(__x86_64__)
  return (Bits)_mm_sad_epu8((__m128i)v, _mm_setzero_si128());
#else
  v = (v & 0x00ff00ff00ff00ffull) + ((v >> 8) & 0x00ff00ff00ff00ffull);
  v = (v & 0x0000ffff0000ffffull) + ((v >> 16) & 0x0000ffff0000ffffull);
  return (v & 0xffffffffull) + (v >> 32);
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

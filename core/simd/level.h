// For the files that are compiled once per SIMD level (KW_LEVEL). These files may not instantiate
// code that other files share (no standard containers or algorithms): the linker could keep the
// copy built for a newer CPU. All names in this file have internal linkage.
#pragma once

#include <stdint.h>
#include <string.h>

#define KW_JOIN2(a, b) a##b
#define KW_JOIN(a, b) KW_JOIN2(a, b)

namespace kw {
namespace {

// Number of 64-bit numbers in a register.
#if defined(__AVX512F__)
constexpr int64_t kLanes = 8;
#elif defined(__AVX2__)
constexpr int64_t kLanes = 4;
#else
constexpr int64_t kLanes = 2;
#endif

template <typename V>
inline V load(const void* p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}

template <typename V>
inline void store(V v, void* p) {
  memcpy(p, &v, sizeof v);
}

}  // namespace
}  // namespace kw

// Chooses the SIMD level at the first call: the best one of this CPU, or that of KERNELWEAVE_SIMD.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simd/simd.h"

namespace kw {

extern const Simd simd_baseline;
#ifdef KW_X86
extern const Simd simd_avx2;
extern const Simd simd_avx512;
#endif

namespace {

std::vector<const Simd*> supported() {
  std::vector<const Simd*> levels = {&simd_baseline};
#ifdef KW_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v3")) levels.push_back(&simd_avx2);
  if (__builtin_cpu_supports("x86-64-v4")) levels.push_back(&simd_avx512);
#endif
  return levels;
}

const Simd*& current() {
  static const Simd* level = simd_levels().back();
  return level;
}

}  // namespace

const Simd& simd() { return *current(); }

void use_simd(const char* name) {
  std::string accepted;
  for (const Simd* level : simd_levels()) {
    if (std::string_view(level->name) == name) {
      current() = level;
      return;
    }
    accepted += (accepted.empty() ? "" : ", ") + std::string(level->name);
  }
  throw std::invalid_argument("KERNELWEAVE_SIMD=" + std::string(name) +
                              " is not available on this machine; accepted here: " + accepted);
}

std::span<const Simd* const> simd_levels() {
  static const std::vector<const Simd*> found = supported();
  return found;
}

}  // namespace kw

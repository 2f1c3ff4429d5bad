// Reflections of tables of words. Compiled once per SIMD level; see level.h for the rules that
// follow.
#include "simd/words.h"

#include "simd/level.h"

namespace kw {
namespace {

typedef double Real __attribute__((vector_size(kLanes * 8)));

// Four letters, for DNA.
template <typename T>
inline void reflect_four(double* x, int64_t stride) {
  const T x0 = load<T>(x), x1 = load<T>(x + stride), x2 = load<T>(x + 2 * stride),
          x3 = load<T>(x + 3 * stride);
  const T rest = x1 + x2 + x3, half = 0.5 * (x0 - rest);
  store(T(x0 - half), x);
  store(T(x1 + half), x + stride);
  store(T(x2 + half), x + 2 * stride);
  store(T(x3 + half), x + 3 * stride);
}

// Two base-4 digits in one pass over memory.
inline void reflect_sixteen(double* x, int64_t stride) {
  Real v[16];
  for (int i = 0; i < 16; ++i) v[i] = load<Real>(x + i * stride);
  for (int i = 0; i < 16; i += 4) {
    const Real half = 0.5 * (v[i] - (v[i + 1] + v[i + 2] + v[i + 3]));
    v[i] -= half, v[i + 1] += half, v[i + 2] += half, v[i + 3] += half;
  }
  for (int i = 0; i < 4; ++i) {
    const Real half = 0.5 * (v[i] - (v[i + 4] + v[i + 8] + v[i + 12]));
    v[i] -= half, v[i + 4] += half, v[i + 8] += half, v[i + 12] += half;
  }
  for (int i = 0; i < 16; ++i) store(v[i], x + i * stride);
}

void reflect_any(double* x, int64_t letters, int64_t stride) {
  const double root = __builtin_sqrt(double(letters));
  for (int64_t j = 0; j < stride; ++j) {
    double sum = 0.0;
    for (int64_t a = 0; a < letters; ++a) sum += x[a * stride + j];
    const double first = sum / root, change = (x[j] - first) / (root - 1.0);
    for (int64_t a = 1; a < letters; ++a) x[a * stride + j] += change;
    x[j] = first;
  }
}

void reflect(double* table, int64_t letters, int64_t stride, int64_t groups) {
  for (int64_t g = 0; g < groups; ++g) {
    double* x = table + g * letters * stride;
    int64_t j = 0;
    if (letters != 4) {
      reflect_any(x, letters, stride);
      continue;
    }
    for (; j + kLanes <= stride; j += kLanes) reflect_four<Real>(x + j, stride);
    for (; j < stride; ++j) reflect_four<double>(x + j, stride);
  }
}

void reflect_two(double* table, int64_t stride, int64_t groups) {
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t j = 0; j < stride; j += kLanes)
      reflect_sixteen(table + g * 16 * stride + j, stride);
}

void transpose(double* matrix) {
  for (int i = 1; i < 16; ++i)
    for (int j = 0; j < i; ++j) {
      const double upper = matrix[j * 16 + i];
      matrix[j * 16 + i] = matrix[i * 16 + j];
      matrix[i * 16 + j] = upper;
    }
}

}  // namespace

extern const WordLoops KW_JOIN(words_, KW_LEVEL);
const WordLoops KW_JOIN(words_, KW_LEVEL) = {reflect, reflect_two, transpose};

}  // namespace kw

// Compiled once per SIMD level (KW_LEVEL); like body.cpp it must not instantiate code that other
// files share.
#include "simd/words.h"

#include <string.h>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#define KW_JOIN2(a, b) a##b
#define KW_JOIN(a, b) KW_JOIN2(a, b)

namespace kw {
namespace {

#if defined(__AVX512BW__)
constexpr int64_t kLanes = 8;
#elif defined(__AVX2__)
constexpr int64_t kLanes = 4;
#else
constexpr int64_t kLanes = 2;
#endif
typedef double Real __attribute__((vector_size(kLanes * 8)));
constexpr int64_t kBytes = kLanes * 8;
typedef uint8_t Bytes __attribute__((vector_size(kBytes)));
typedef uint16_t Shorts __attribute__((vector_size(kBytes)));

template <typename T>
inline T load(const void* p) {
  T v;
  memcpy(&v, p, sizeof v);
  return v;
}

template <typename T>
inline void store(T v, void* p) {
  memcpy(p, &v, sizeof v);
}

// Four letters, as DNA has them.
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

// Two digits of four letters each in one pass over memory.
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

// counts + 1, or counts - 1, where letters are equal.
#if defined(__AVX512BW__)
inline Bytes more_where_equal(Bytes counts, Bytes a, Bytes b) {
  const __mmask64 equal = _mm512_cmpeq_epi8_mask((__m512i)a, (__m512i)b);
  const __m512i one = _mm512_set1_epi8(1);
  return (Bytes)_mm512_mask_add_epi8((__m512i)counts, equal, (__m512i)counts, one);
}
inline Bytes fewer_where_equal(Bytes counts, Bytes a, Bytes b) {
  const __mmask64 equal = _mm512_cmpeq_epi8_mask((__m512i)a, (__m512i)b);
  const __m512i one = _mm512_set1_epi8(1);
  return (Bytes)_mm512_mask_sub_epi8((__m512i)counts, equal, (__m512i)counts, one);
}
#else
inline Bytes more_where_equal(Bytes counts, Bytes a, Bytes b) { return counts - Bytes(a == b); }
inline Bytes fewer_where_equal(Bytes counts, Bytes a, Bytes b) { return counts + Bytes(a == b); }
#endif

// Bytes that count, which are emptied before they overflow into wider numbers.
struct Tally {
  Bytes bytes = {};
  Shorts shorts = {};

  void widen() {
    const Shorts pairs = (Shorts)bytes;
    shorts += (pairs & 255) + (pairs >> 8);
    bytes = Bytes{};
  }
  uint64_t total() {
    uint64_t sum = 0;
    for (int64_t i = 0; i < kBytes / 2; ++i) sum += shorts[i];
    shorts = Shorts{};
    return sum;
  }
};

// Classes skipped, skipped + 1, ... of all, with as many diagonals side by side as there are bytes.
template <int Classes>
void count_windows(const WindowTask& task, int64_t skipped) {
  Tally found[Classes];
  Bytes target[Classes];
  for (int c = 0; c < Classes; ++c) target[c] = uint8_t(task.length - skipped - c) - Bytes{};
  int64_t widened = 0;
  auto empty = [&] {
    for (int c = 0; c < Classes; ++c) task.found[skipped + c] += found[c].total();
    widened = 0;
  };
  for (int64_t t = task.first; t < task.y_length; t += kBytes) {
    const int64_t begin = -t - kBytes < 0 ? 0 : -t - kBytes + 1;
    int64_t end = task.x_length < task.y_length - t ? task.x_length : task.y_length - t;
    if ((task.last_sum - t) / 2 + 1 < end) end = (task.last_sum - t) / 2 + 1;
    Bytes counts = {};
    int64_t room = 255;
    for (int64_t a = begin; a < end; ++a) {
      const uint8_t* y = task.y + t + a;
      const uint8_t left = a < task.length ? 255 : task.x[a - task.length];
      counts = more_where_equal(counts, load<Bytes>(y), task.x[a] - Bytes{});
      counts = fewer_where_equal(counts, load<Bytes>(y - task.length), left - Bytes{});
      if (task.x_no_word[a]) continue;
      const Bytes words = counts | load<Bytes>(task.y_no_word + t + a) |
                          load<Bytes>(task.beyond + t + (1 + task.step) * a);
      for (int c = 0; c < Classes; ++c)
        found[c].bytes = more_where_equal(found[c].bytes, words, target[c]);
      if (--room > 0) continue;
      for (int c = 0; c < Classes; ++c) found[c].widen();
      room = 255;
      if (++widened == 120) empty();
    }
    for (int c = 0; c < Classes; ++c) found[c].widen();
    if (++widened >= 120) empty();
  }
  empty();
}

void windows(const WindowTask& task) {
  for (int64_t skipped = 0; skipped < task.classes; skipped += 6) {
    switch (task.classes - skipped) {
      case 1:
        count_windows<1>(task, skipped);
        break;
      case 2:
        count_windows<2>(task, skipped);
        break;
      case 3:
        count_windows<3>(task, skipped);
        break;
      case 4:
        count_windows<4>(task, skipped);
        break;
      case 5:
        count_windows<5>(task, skipped);
        break;
      default:
        count_windows<6>(task, skipped);
    }
  }
}

}  // namespace

extern const WordLoops KW_JOIN(words_, KW_LEVEL);
const WordLoops KW_JOIN(words_, KW_LEVEL) = {reflect, reflect_two, transpose, windows};

}  // namespace kw

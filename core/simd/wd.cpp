// The weighted degree kernel. Compiled once per SIMD level; see level.h for the rules that follow.
#include "simd/wd.h"

#include "simd/bits.h"

namespace kw {
namespace {

typedef double Real __attribute__((vector_size(kLanes * 8)));

template <int W>
inline Bits count(const Bits* mask, const uint64_t* starts, int64_t words) {
  const int64_t width = W ? W : words;
  Bits total = {};
  for (int64_t from = 0; from < width; from += 31) {
    Bits bytes = {};
    for (int64_t w = from; w < width && w < from + 31; ++w)
      bytes += count_bytes(starts ? mask[w] & starts[w] : mask[w]);
    total += sum_bytes(bytes);
  }
  return total;
}

// Converts small integers to doubles: the bits of 2^52 + n are those of 2^52 plus n.
inline Real real(Bits n) { return (Real)(n | 0x4330000000000000ull) - 0x1p52; }

inline Real load_some(const double* p, int64_t lanes) {
  Real v = {};
  memcpy(&v, p, sizeof(double) * (lanes < kLanes ? lanes : kLanes));
  return v;
}

inline void store_some(double* out, Real v, int64_t lanes) {
  if (lanes >= kLanes)
    memcpy(out, &v, sizeof v);
  else
    for (int64_t lane = 0; lane < lanes; ++lane) out[lane] = v[lane];
}

// A match mask: in registers if its size is a constant, otherwise in the memory of the tile.
template <int W>
struct Mask {
  Bits words[W];
  explicit Mask(const WdTile&) {}
  Bits* data() { return words; }
};
template <>
struct Mask<0> {
  Bits* words;
  explicit Mask(const WdTile& tile) : words(static_cast<Bits*>(tile.matches)) {}
  Bits* data() { return words; }
};

// kPaired: row r is compared with column r only.
template <int W, int P, bool kPaired = false>
struct Pass {
  static constexpr int64_t kRowStride = kPaired ? kWdGroup : 1;
  const WdTile& tile;
  const int64_t words, planes;

  explicit Pass(const WdTile& t) : tile(t), words(W ? W : t.words), planes(P ? P : t.planes) {}

  inline Bits row_word(const uint64_t* row, int64_t w) const {
    if constexpr (kPaired)
      return load<Bits>(row + w * kWdGroup);
    else
      return Bits{} + row[w];
  }

  // Positions at which letters are equal and known on both sides.
  inline void match(const uint64_t* row, const uint64_t* column, Bits* mask) const {
    for (int64_t w = 0; w < words; ++w) {
      Bits differ = {};
      for (int64_t p = 0; p < planes; ++p)
        differ |= load<Bits>(column + (p * words + w) * kWdGroup) ^ row_word(row, p * words + w);
      mask[w] = ~differ & row_word(row, planes * words + w);
      if (tile.masked) mask[w] &= load<Bits>(column + (planes * words + w) * kWdGroup);
    }
  }

  // Replaces matches of k letters by those of k + 1; returns false if there are none.
  inline bool lengthen(Bits* mask) const {
    Bits left = {};
    for (int64_t w = 0; w + 1 < words; ++w) {
      mask[w] &= mask[w] >> 1 | mask[w + 1] << 63;
      left |= mask[w];
    }
    mask[words - 1] &= mask[words - 1] >> 1;
    return lanes_with(left | mask[words - 1]);
  }

  // Adds the weights of the matches of length k under a shift to the plane of their position, pair
  // by pair.
  void spread(const Bits* mask, const uint64_t* starts, int64_t s, int64_t k, double* out,
              int64_t lanes) const {
    const int64_t first = tile.value == WdValue::kBoth ? k * tile.length : 0;
    const double weight = tile.weights[s * tile.degree + k];
    const double* places =
        tile.places ? tile.places + (s * tile.degree + k) * tile.length : nullptr;
    const int64_t shift = tile.shifts[s];
    const int64_t* planes_of = tile.plane_of + (shift < 0 ? shift : 0);
    for (int64_t w = 0; w < words; ++w) {
      const Bits here = starts ? mask[w] & starts[w] : mask[w];
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (uint64_t left = here[lane]; left; left &= left - 1) {
          const int64_t p = w * 64 + __builtin_ctzll(left);
          if (planes_of[p] < 0) continue;
          out[(first + planes_of[p]) * tile.plane_stride + lane] += places ? places[p] : weight;
        }
    }
  }

  // The sum of the weights of the matches of length k under a shift, where weights depend on the
  // position.
  Real sum_places(const Bits* mask, const uint64_t* starts, int64_t s, int64_t k) const {
    const double* sums = tile.place_sums + (s * tile.degree + k) * words * kWdPlaceSums;
    Real total = {};
    for (int64_t w = 0; w < words; ++w, sums += kWdPlaceSums) {
      const Bits here = starts ? mask[w] & starts[w] : mask[w];
      if (lanes_with(here)) total += sum_word(here, sums);
    }
    return total;
  }

  // The sum of the weights of the matches in one word, three positions at a time: a table of eight
  // doubles fits into one register of AVX-512.
  static inline Real sum_word(Bits here, const double* sums) {
    Real even = {}, odd = {};
#if defined(__AVX512BW__)
    for (int64_t group = 0; group < kWdPlaceSums / 8; group += 2, here >>= 6) {
      even += (Real)_mm512_permutexvar_pd((__m512i)here, _mm512_loadu_pd(sums + group * 8));
      odd +=
          (Real)_mm512_permutexvar_pd((__m512i)(here >> 3), _mm512_loadu_pd(sums + group * 8 + 8));
    }
#else
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      uint64_t left = here[lane];
      for (const double* from = sums; left; left >>= 6, from += 16) {
        even[lane] += from[left & 7];
        odd[lane] += from[8 + (left >> 3 & 7)];
      }
    }
#endif
    return even + odd;
  }

  // The sum of the weights of all matches of length k under a shift.
  inline Real sum_matches(const Bits* mask, const uint64_t* starts, int64_t s, int64_t k) const {
    if (tile.places) return sum_places(mask, starts, s, k);
    return tile.weights[s * tile.degree + k] * real(count<W>(mask, starts, words));
  }

  inline void sum(const uint64_t* row, const uint64_t* column, double* out, int64_t lanes) const {
    Real total = tile.add ? load_some(out, lanes) : Real{};
    Mask<W> room(tile);
    Bits* mask = room.data();
    for (int64_t s = 0; s < tile.passes; ++s) {
      const uint64_t* starts = tile.starts ? tile.starts + s * words : nullptr;
      match(row + s * (planes + 1) * words * kRowStride, column, mask);
      for (int64_t k = 0; k < tile.degree; ++k) {
        total += sum_matches(mask, starts, s, k);
        if (!lengthen(mask)) break;
      }
    }
    store_some(out, total, lanes);
  }

  inline void split(const uint64_t* row, const uint64_t* column, double* out, int64_t lanes) const {
    Mask<W> room(tile);
    Bits* mask = room.data();
    const int64_t filled = lanes < kLanes ? lanes : kLanes;
    for (int64_t s = 0; s < tile.passes; ++s) {
      const uint64_t* starts = tile.starts ? tile.starts + s * words : nullptr;
      match(row + s * (planes + 1) * words, column, mask);
      for (int64_t k = 0; k < tile.degree; ++k) {
        if (tile.value == WdValue::kDegrees) {
          const Real value = sum_matches(mask, starts, s, k);
          double* target = out + k * tile.plane_stride;
          if (filled == kLanes) {
            Real sum;
            memcpy(&sum, target, sizeof sum);
            sum += value;
            memcpy(target, &sum, sizeof sum);
          } else {
            for (int64_t lane = 0; lane < filled; ++lane) target[lane] += value[lane];
          }
        } else {
          spread(mask, starts, s, k, out, filled);
        }
        if (!lengthen(mask)) break;
      }
    }
  }

  void run_paired() const {
    const int64_t row_words = tile.passes * (planes + 1) * words * kWdGroup;
    const int64_t group_words = (planes + tile.masked) * words * kWdGroup;
    for (int64_t j = 0; j < tile.n_columns; j += kLanes) {
      const int64_t group = j / kWdGroup, lane = j % kWdGroup;
      sum(tile.rows + group * row_words + lane, tile.columns + group * group_words + lane,
          tile.out + j, tile.n_columns - j);
    }
  }

  void run() const {
    const int64_t row_words = tile.passes * (planes + 1) * words;
    const int64_t group_words = (planes + tile.masked) * words * kWdGroup;
    for (int64_t j = 0; j < tile.n_columns; j += kLanes) {
      const uint64_t* column = tile.columns + j / kWdGroup * group_words + j % kWdGroup;
      for (int64_t r = 0; r < tile.n_rows; ++r) {
        const uint64_t* row = tile.rows + r * row_words;
        double* out = tile.out + r * tile.row_stride + j;
        if (tile.value == WdValue::kSum)
          sum(row, column, out, tile.n_columns - j);
        else
          split(row, column, out, tile.n_columns - j);
      }
    }
  }
};

template <int W>
void run_planes(const WdTile& tile) {
  if (tile.paired) return Pass<W, 0, true>(tile).run_paired();
  if (tile.planes == 2) return Pass<W, 2>(tile).run();
  Pass<W, 0>(tile).run();
}

void read_letters(const uint64_t* words, int64_t planes, int64_t stride, int64_t bit, int64_t n,
                  uint8_t* out) {
  for (int64_t s = 0; s < n; ++s)
    out[s] = uint8_t((words[s] >> bit & 1) | (words[stride + s] >> bit & 1) << 1);
  for (int64_t plane = 2; plane < planes; ++plane)
    for (int64_t s = 0; s < n; ++s)
      out[s] |= uint8_t((words[plane * stride + s] >> bit & 1) << plane);
}

void fill_tile(const WdTile& tile) {
  if (tile.words == 1) return run_planes<1>(tile);
  if (tile.words == 2) return run_planes<2>(tile);
  if (tile.words == 3) return run_planes<3>(tile);
  if (tile.words == 4) return run_planes<4>(tile);
  run_planes<0>(tile);
}

}  // namespace

extern const WdLoops KW_JOIN(wd_, KW_LEVEL);
const WdLoops KW_JOIN(wd_, KW_LEVEL) = {fill_tile, read_letters};

}  // namespace kw

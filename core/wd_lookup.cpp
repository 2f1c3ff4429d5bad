// How a weight store is read.
#include <utility>

#include "simd/simd.h"
#include "wd_store.h"
#include "wd_window.h"

namespace kw {
namespace {

// Takes what a walk finds as one value.
struct Total {
  static constexpr bool by_level = false;
  double& out;
  const double* reach;

  void level(int64_t, double value) { out += value; }
  void run(int64_t from, int64_t to, double delta) { out += delta * (reach[to] - reach[from]); }
};

// Takes what a walk finds degree by degree.
struct ByDegree {
  static constexpr bool by_level = true;
  double* out;
  int64_t stride;
  const double* weights;

  void level(int64_t k, double value) { out[(k - 1) * stride] += value; }
  void run(int64_t from, int64_t to, double delta) {
    for (int64_t k = from; k < to; ++k) out[k * stride] += delta * weights[k];
  }
};

}  // namespace

// Sequences that pass all positions together, word by word, so that the words of one position and
// the table of that position stay in the cache. Those with unknown letters are walked one by one.
struct WdStore::Block {
  static constexpr int64_t kSize = 16384;

  Block(const PlaneTable& b, int64_t j0, int64_t j1) : b(b), j0(j0) {
    for (int64_t j = j0; j < j1; ++j) (hidden(j) ? masked : clean).push_back(j);
    const int64_t n = size(), all = b.planes * b.words;
    words.resize(n * all);
    for (int64_t s = 0; s < n; ++s)
      for (int64_t w = 0; w < all; ++w) words[w * n + s] = b.letters(clean[s])[w];
    places.resize(n);
    hits.resize(n);
    links.resize(n);
    sums.assign(n, 0.0);
  }

  int64_t size() const { return int64_t(clean.size()); }
  bool hidden(int64_t j) const {
    return b.masked &&
           std::any_of(b.unknown(j), b.unknown(j) + b.words, [](uint64_t w) { return w != 0; });
  }
  void flush(double* out) {
    for (int64_t s = 0; s < size(); ++s) out[clean[s]] += std::exchange(sums[s], 0.0);
  }
  uint64_t window(int64_t s, int64_t plane, int64_t p) const {
    return window_at(words.data() + plane * b.words * size() + s, b.words, p, size());
  }

  // The table index of every sequence at position p.
  void find_places(int64_t p, int64_t depth) {
    const int64_t n = size(), bit = p % 64;
    const uint64_t* low = words.data() + p / 64 * n;
    const uint64_t* high = bit + depth > 64 ? low + n : nullptr;
    simd().wd->places(low, high, b.planes, b.words * n, bit, depth, n, places.data());
  }

  // Notes the sequences whose place in the last table has something below it, and what.
  int64_t find_hits(const WdStore& store, const Position& position) {
    int64_t found = 0;
    for (int64_t s = 0; s < size(); ++s) {
      const uint32_t place = places[s];
      hits[found] = uint32_t(s);
      found += position.deeper[place / 64] >> (place % 64) & 1;
    }
    for (int64_t h = 0; h < found; ++h) {
      links[h] = position.below(places[hits[h]]);
      if (links[h].count != kBranch)
        __builtin_prefetch(position.leaves.data() + links[h].first * store.leaf_words());
    }
    return found;
  }

  const PlaneTable& b;
  const int64_t j0;
  std::vector<int64_t> clean, masked;
  std::vector<uint64_t> words;
  std::vector<uint32_t> places, hits;
  std::vector<Link> links;
  std::vector<double> sums;
};

// Tells the sink what the matches of a window give below the table.
template <int P, class Sink>
inline void WdStore::descend(const Position& position, Link link, const uint64_t* window,
                             uint64_t stop, Sink sink) const {
  const int64_t planes = P ? P : planes_, known = std::countr_zero(stop);
  int64_t depth = position.depth;
  while (link.count == kBranch) {
    if (depth == known) return;
    uint64_t letter = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      letter |= (window[plane] >> depth & 1) << plane;
    const Child& child = position.children[link.first + letter];
    sink.level(++depth, child.value);
    link = child.link;
  }
  const uint64_t* leaf = position.leaves.data() + link.first * leaf_words();
  for (uint32_t left = link.count; left; --left, leaf += kLeafHead + planes) {
    uint64_t differ = leaf[1] | stop;
    for (int64_t plane = 0; plane < planes; ++plane)
      differ |= leaf[kLeafHead + plane] ^ window[plane];
    sink.run(depth, std::countr_zero(differ), std::bit_cast<double>(leaf[0]));
  }
}

// A sequence with unknown letters may leave the table early.
template <int P, class Sink>
void WdStore::walk_masked(const PlaneTable& b, int64_t j, int64_t p, Sink sink) const {
  const Position& position = positions_[p];
  const uint64_t stop = stop_at(b, j, p, degree_);
  uint64_t window[8];
  for (int64_t plane = 0; plane < planes_; ++plane)
    window[plane] = window_at(b.letters(j) + plane * b.words, b.words, p);
  const int64_t known = std::countr_zero(stop), end = std::min<int64_t>(known, position.depth);
  for (int64_t k = Sink::by_level || end == 0 ? 1 : end; k <= end; ++k)
    sink.level(k, position.levels[k - 1][index<P>(window, planes_, k)]);
  if (known > position.depth)
    descend<P>(position, position.below(uint32_t(index<P>(window, planes_, position.depth))),
               window, stop, sink);
}

// Below the table, one position, all sequences of a block.
template <int P, class MakeSink>
void WdStore::pass_below(Block& block, int64_t p, MakeSink&& make_sink) const {
  const Position& position = positions_[p];
  const uint64_t stop = uint64_t{1} << std::min(degree_, length_ - p);
  const int64_t hits = block.find_hits(*this, position);
  for (int64_t h = 0; h < hits; ++h) {
    const int64_t s = block.hits[h];
    uint64_t window[P ? P : 8];
    for (int64_t plane = 0; plane < (P ? P : planes_); ++plane)
      window[plane] = block.window(s, plane, p);
    descend<P>(position, block.links[h], window, stop, make_sink(s));
  }
}

// Adds one value per sequence to the sums of the block (and to out, for those walked one by one).
template <int P>
void WdStore::pass_total(Block& block, int64_t p, double* out) const {
  const double* table = positions_[p].levels.back().data();
  block.find_places(p, positions_[p].depth);
  for (int64_t s = 0; s < block.size(); ++s) block.sums[s] += table[block.places[s]];
  pass_below<P>(block, p, [&](int64_t s) { return Total{block.sums[s], reach(p)}; });
  for (int64_t j : block.masked) walk_masked<P>(block.b, j, p, Total{out[j], reach(p)});
}

template <int P>
void WdStore::pass_degrees(Block& block, int64_t p, double* out, int64_t stride) const {
  const Position& position = positions_[p];
  for (int k = 1; k <= position.depth; ++k) {
    const double* level = position.levels[k - 1].data();
    double* row = out + (k - 1) * stride;
    block.find_places(p, k);
    for (int64_t s = 0; s < block.size(); ++s) row[block.clean[s]] += level[block.places[s]];
  }
  auto sink = [&](int64_t j) { return ByDegree{out + j, stride, position.weights}; };
  pass_below<P>(block, p, [&](int64_t s) { return sink(block.clean[s]); });
  for (int64_t j : block.masked) walk_masked<P>(block.b, j, p, sink(j));
}

template <int P>
void WdStore::lookup_block(Block& block, double* out, int64_t stride) const {
  out -= block.j0;
  for (int64_t p = 0; p < length_; ++p) {
    switch (value_) {
      case WdValue::kSum:
        pass_total<P>(block, p, out);
        break;
      case WdValue::kDegrees:
        pass_degrees<P>(block, p, out, stride);
        break;
      case WdValue::kBoth:
        pass_degrees<P>(block, p, out + p * stride, stride * length_);
        break;
      case WdValue::kPositions:
        pass_total<P>(block, p, out + p * stride);
        block.flush(out + p * stride);
        break;
    }
  }
  block.flush(out);
}

void WdStore::lookup(const Table& table, int64_t j0, int64_t j1, double* out,
                     int64_t stride) const {
  const auto& b = dynamic_cast<const PlaneTable&>(table);
  if (batches_.empty()) return;
  for (int64_t j = j0; j < j1; j += Block::kSize) {
    Block block(b, j, std::min(j1, j + Block::kSize));
    if (planes_ == 2)
      lookup_block<2>(block, out + j - j0, stride);
    else
      lookup_block<0>(block, out + j - j0, stride);
  }
}

}  // namespace kw

#include "wd_store.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "simd/simd.h"
#include "team.h"

namespace kw {
namespace {

constexpr int64_t kTableBits = 16;  // of the largest table of a position

// 64 letters from position p on. Bits behind the end of the sequence are arbitrary.
inline uint64_t window_at(const uint64_t* plane, int64_t words, int64_t p, int64_t stride = 1) {
  const int64_t word = p / 64, bit = p % 64;
  const uint64_t next = word + 1 < words ? plane[(word + 1) * stride] : 0;
  return plane[word * stride] >> bit | (next << 1) << (63 - bit);
}

// The bit at which matches from position p must end: the degree, the end, or an unknown letter.
uint64_t stop_at(const PlaneTable& table, int64_t i, int64_t p, int64_t degree) {
  uint64_t stop = uint64_t{1} << std::min(degree, table.length - p);
  if (table.masked) stop |= window_at(table.unknown(i), table.words, p);
  return stop & -stop;
}

// The first `depth` letters as a number: the bits of plane 0, then those of plane 1, ...
template <int P>
inline uint64_t index(const uint64_t* window, int64_t planes, int64_t depth) {
  const uint64_t mask = (uint64_t{1} << depth) - 1;
  uint64_t place = 0;
  for (int64_t plane = 0; plane < (P ? P : planes); ++plane)
    place |= (window[plane] & mask) << (plane * depth);
  return place;
}

// Visits the prefixes of length k in runs: visit(c, s, run) for places c, ..., c + 2 run - 1 of
// level k, whose first k - 1 letters are places s, ..., s + run - 1 of the level above, twice.
template <class Visit>
void for_prefixes(int64_t planes, int k, Visit&& visit) {
  const uint64_t run = uint64_t{1} << (k - 1), rows = uint64_t{1} << (k * (planes - 1));
  for (uint64_t h = 0; h < rows; ++h) {
    uint64_t shorter = 0;
    for (int64_t plane = 0; plane + 1 < planes; ++plane)
      shorter |= (h >> (plane * k) & (run - 1)) << (plane * (k - 1));
    visit(h << k, shorter << (k - 1), run);
  }
}

int depth_for(int64_t rows, int64_t planes, int64_t degree) {
  const int64_t wanted = (std::bit_width(uint64_t(std::max<int64_t>(rows, 1))) + planes) / planes;
  return int(std::clamp<int64_t>(wanted, 1, std::min(degree, kTableBits / planes)));
}

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

WdStore::WdStore(const WdKernel& kernel, const PlaneTable& a, const int64_t* rows,
                 const double* delta, int64_t count, int threads, const double* planes)
    : parameters_(kernel.parameters),
      length_(a.length),
      planes_(a.planes),
      degree_(parameters_.degree()),
      value_(planes ? WdValue::kSum : parameters_.value),
      weights_(length_ * degree_),
      reach_(length_ * (degree_ + 1)),
      positions_(length_) {
  if (degree_ > kMaxDegree)
    throw std::invalid_argument("a weight store holds matches of at most 63 letters");
  for (int64_t p = 0; p < length_; ++p)
    for (int64_t k = 0; k < degree_; ++k) {
      const double factor = planes ? planes[kernel.plane_of(p, k)] : 1.0;
      weights_[p * degree_ + k] = factor * parameters_.weights[k];
      reach_[p * (degree_ + 1) + k + 1] = reach_[p * (degree_ + 1) + k] + weights_[p * degree_ + k];
    }
  const int depth = depth_for(count * kernel.n_passes(), planes_, degree_);
  run_team(threads, length_, [&](int64_t p, int) {
    positions_[p].depth = int(std::min<int64_t>(depth, length_ - p));
    positions_[p].weights = weights(p);
    build(positions_[p], windows(a, rows, delta, count, p));
  });
}

// Fitted to measurements (benchmarks/strings_crossover.py) with two planes and AVX2.
double WdStore::cost(const WdKernel& kernel, const PlaneTable& a, int64_t count, int64_t columns) {
  const int depth = depth_for(count * kernel.n_passes(), a.planes, kernel.parameters.degree());
  const double rows = double(count * kernel.n_passes());
  const double table = double(int64_t{1} << (a.planes * depth));
  const double hits = std::min(1.0, rows / table) * (1.0 + rows / table);
  const bool by_level =
      kernel.parameters.value == WdValue::kDegrees || kernel.parameters.value == WdValue::kBoth;
  const double build = 60.0 * rows + 8.0 * table;
  const double lookup = (by_level ? 3.0 * depth : 3.0) + 20.0 * hits;
  return double(a.length) * (build + double(columns) * lookup);
}

// What the added sequences look like from position p on: themselves, and their shifted copies.
std::vector<WdStore::Leaf> WdStore::windows(const PlaneTable& a, const int64_t* rows,
                                            const double* delta, int64_t count, int64_t p) const {
  std::vector<Leaf> leaves;
  const int64_t most = parameters_.largest_shift();
  leaves.reserve(count * (2 * most + 1));
  for (int64_t shift = -most; shift <= most; ++shift) {
    const int64_t from = p + shift;
    if (from < 0 || from >= length_ || !parameters_.allows(std::min(p, from), shift)) continue;
    const double weight = parameters_.shift_weight(shift);
    for (int64_t r = 0; r < count; ++r) {
      Leaf& leaf = leaves.emplace_back();
      leaf.delta = weight * delta[r];
      leaf.stop = stop_at(a, rows[r], from, degree_);
      for (int64_t plane = 0; plane < planes_; ++plane)
        leaf.letters[plane] = window_at(a.letters(rows[r]) + plane * a.words, a.words, from);
    }
  }
  return leaves;
}

void WdStore::build(Position& position, const std::vector<Leaf>& leaves) const {
  sum_levels(position, leaves);
  fill_values(position);
  const uint64_t table_end = uint64_t{1} << position.depth;
  auto place = [&](const Leaf& leaf) { return index<0>(leaf.letters, planes_, position.depth); };
  // Counting sort by the table's index of the leaves that reach below it.
  std::vector<uint32_t> ends(position.values.size() + 1, 0);
  for (const Leaf& leaf : leaves) ends[place(leaf) + 1] += leaf.stop > table_end;
  for (size_t e = 1; e < ends.size(); ++e) ends[e] += ends[e - 1];
  std::vector<Leaf> sorted(ends.back());
  std::vector<uint32_t> next(ends.begin(), ends.end() - 1);
  for (const Leaf& leaf : leaves)
    if (leaf.stop > table_end) sorted[next[place(leaf)]++] = leaf;

  position.links.assign(position.values.size(), Link{});
  position.deeper.assign(position.values.size() / 64 + 1, 0);
  position.leaves.reserve(sorted.size() * (kLeafHead + planes_));
  for (size_t e = 0; e + 1 < ends.size(); ++e) {
    if (ends[e] == ends[e + 1]) continue;
    position.deeper[e / 64] |= uint64_t{1} << (e % 64);
    position.links[e] =
        settle(position, sorted.data() + ends[e], sorted.data() + ends[e + 1], position.depth);
  }
}

// levels[k - 1][c]: sum of delta over the sequences whose first k letters are c.
void WdStore::sum_levels(Position& position, const std::vector<Leaf>& leaves) const {
  const int depth = position.depth;
  position.levels.resize(depth);
  for (int k = 1; k <= depth; ++k) position.levels[k - 1].assign(size_t{1} << (planes_ * k), 0.0);
  for (const Leaf& leaf : leaves) {
    const int known = std::min<int>(depth, std::countr_zero(leaf.stop));
    if (known > 0) position.levels[known - 1][index<0>(leaf.letters, planes_, known)] += leaf.delta;
  }
  for (int k = depth; k > 1; --k)
    for_prefixes(planes_, k, [&](uint64_t c, uint64_t s, uint64_t run) {
      const double* from = position.levels[k - 1].data() + c;
      double* to = position.levels[k - 2].data() + s;
      for (uint64_t i = 0; i < run; ++i) to[i] += from[i] + from[i + run];
    });
}

void WdStore::fill_values(Position& position) const {
  std::vector<double> above(1, 0.0), here;
  for (int k = 1; k <= position.depth; ++k) {
    const double weight = position.weights[k - 1];
    here.resize(position.levels[k - 1].size());
    for_prefixes(planes_, k, [&](uint64_t c, uint64_t s, uint64_t run) {
      const double* sums = position.levels[k - 1].data() + c;
      for (uint64_t i = 0; i < run; ++i) here[c + i] = above[s + i] + weight * sums[i];
      for (uint64_t i = 0; i < run; ++i) here[c + run + i] = above[s + i] + weight * sums[run + i];
    });
    above.swap(here);
  }
  position.values = std::move(above);
}

// Puts away leaves that share their first `depth` letters and go on.
WdStore::Link WdStore::settle(Position& position, Leaf* begin, Leaf* end, int64_t depth) const {
  return end - begin > kBucket ? branch(position, begin, end, depth) : keep(position, begin, end);
}

WdStore::Link WdStore::branch(Position& position, Leaf* begin, Leaf* end, int64_t depth) const {
  const uint32_t first = uint32_t(position.children.size());
  position.children.resize(first + (size_t{1} << planes_));
  auto letter = [&](const Leaf& leaf) {
    uint32_t code = 0;
    for (int64_t plane = 0; plane < planes_; ++plane)
      code |= uint32_t(leaf.letters[plane] >> depth & 1) << plane;
    return code;
  };
  std::stable_sort(begin, end, [&](const Leaf& a, const Leaf& b) { return letter(a) < letter(b); });
  for (Leaf* from = begin; from < end;) {
    Leaf* to = from;
    double sum = 0.0;
    for (; to < end && letter(*to) == letter(*from); ++to) sum += to->delta;
    const uint32_t child = first + letter(*from);
    Leaf* on = std::stable_partition(
        from, to, [&](const Leaf& leaf) { return leaf.stop > uint64_t{2} << depth; });
    const Link below = from < on ? settle(position, from, on, depth + 1) : Link{};
    position.children[child] = {sum * position.weights[depth], below};
    from = to;
  }
  return {first, kBranch};
}

WdStore::Link WdStore::keep(Position& position, const Leaf* begin, const Leaf* end) const {
  const uint32_t first = uint32_t(position.leaves.size());
  for (const Leaf* leaf = begin; leaf < end; ++leaf) {
    position.leaves.push_back(std::bit_cast<uint64_t>(leaf->delta));
    position.leaves.push_back(leaf->stop);
    position.leaves.insert(position.leaves.end(), leaf->letters, leaf->letters + planes_);
  }
  return {first, uint32_t(end - begin)};
}

int64_t WdStore::bytes() const {
  int64_t total = 0;
  for (const Position& at : positions_) {
    total += int64_t(at.values.size() * sizeof(double) + at.links.size() * sizeof(Link) +
                     at.children.size() * sizeof(Child) + at.leaves.size() * sizeof(uint64_t));
    for (const auto& level : at.levels) total += int64_t(level.size() * sizeof(double));
  }
  return total;
}

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

  // The sequences whose place has something below it, and what.
  int64_t find_hits(const Position& position) {
    int64_t found = 0;
    for (int64_t s = 0; s < size(); ++s) {
      const uint32_t place = places[s];
      hits[found] = uint32_t(s);
      found += position.deeper[place / 64] >> (place % 64) & 1;
    }
    for (int64_t h = 0; h < found; ++h) {
      links[h] = position.links[places[hits[h]]];
      if (links[h].count != kBranch) __builtin_prefetch(position.leaves.data() + links[h].first);
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
  const uint64_t* leaf = position.leaves.data() + link.first;
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
  const int64_t known = std::countr_zero(stop);
  for (int64_t k = 1; k <= std::min<int64_t>(known, position.depth); ++k)
    sink.level(k, position.levels[k - 1][index<P>(window, planes_, k)] * position.weights[k - 1]);
  if (known > position.depth)
    descend<P>(position, position.links[index<P>(window, planes_, position.depth)], window, stop,
               sink);
}

// Below the table, one position, all sequences of a block.
template <int P, class MakeSink>
void WdStore::pass_below(Block& block, int64_t p, MakeSink&& make_sink) const {
  const Position& position = positions_[p];
  const uint64_t stop = uint64_t{1} << std::min(degree_, length_ - p);
  const int64_t hits = block.find_hits(position);
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
  const double* values = positions_[p].values.data();
  block.find_places(p, positions_[p].depth);
  for (int64_t s = 0; s < block.size(); ++s) block.sums[s] += values[block.places[s]];
  pass_below<P>(block, p, [&](int64_t s) { return Total{block.sums[s], reach(p)}; });
  for (int64_t j : block.masked) walk_masked<P>(block.b, j, p, Total{out[j], reach(p)});
}

template <int P>
void WdStore::pass_degrees(Block& block, int64_t p, double* out, int64_t stride) const {
  const double* weights = positions_[p].weights;
  for (int k = 1; k <= positions_[p].depth; ++k) {
    const double* sums = positions_[p].levels[k - 1].data();
    double* row = out + (k - 1) * stride;
    block.find_places(p, k);
    for (int64_t s = 0; s < block.size(); ++s)
      row[block.clean[s]] += weights[k - 1] * sums[block.places[s]];
  }
  auto sink = [&](int64_t j) { return ByDegree{out + j, stride, weights}; };
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

void WdStore::add(const Table& table, int64_t j0, int64_t j1, double* out, int64_t stride) const {
  const auto& b = dynamic_cast<const PlaneTable&>(table);
  for (int64_t j = j0; j < j1; j += Block::kSize) {
    Block block(b, j, std::min(j1, j + Block::kSize));
    if (planes_ == 2)
      lookup_block<2>(block, out + j - j0, stride);
    else
      lookup_block<0>(block, out + j - j0, stride);
  }
}

}  // namespace kw

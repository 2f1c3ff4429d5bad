#include "wd_store.h"

#include <stdexcept>

#include "team.h"
#include "wd_window.h"

namespace kw {
namespace {

constexpr int64_t kTableBits = 16;  // of the largest table of a position

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

}  // namespace

WdStore::WdStore(const WdKernel& kernel, const double* planes)
    : parameters_(kernel.parameters),
      length_(kernel.length),
      degree_(parameters_.degree()),
      passes_(kernel.n_passes()),
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
}

void WdStore::clear() {
  batches_.clear();
  positions_.assign(length_, Position{});
  settled_ = true;
}

void WdStore::add(const Table& a, const int64_t* rows, const double* delta, int64_t count) {
  if (dynamic_cast<const PlaneTable&>(a).length != length_)
    throw std::invalid_argument("a store of the weighted degree kernel holds one length only");
  auto table = std::dynamic_pointer_cast<const PlaneTable>(a.subset(rows, count));
  planes_ = table->planes;
  batches_.push_back({std::move(table), std::vector<double>(delta, delta + count)});
  settled_ = false;
}

void WdStore::merge(const Store& other) {
  const auto* same = dynamic_cast<const WdStore*>(&other);
  if (!same || same->weights_ != weights_ || same->parameters_.shifts != parameters_.shifts)
    throw std::invalid_argument("the stores hold other words");
  const std::vector<Batch> more = same->batches_;  // `other` may be this store
  batches_.insert(batches_.end(), more.begin(), more.end());
  planes_ = std::max(planes_, same->planes_);
  settled_ = false;
}

void WdStore::settle(int threads) {
  if (settled_) return;
  int64_t count = 0;
  for (const Batch& batch : batches_) count += int64_t(batch.delta.size());
  const int depth = depth_for(count * passes_, planes_, degree_);
  run_team(threads, length_, [&](int64_t p, int) {
    positions_[p] = Position{};
    positions_[p].depth = int(std::min<int64_t>(depth, length_ - p));
    positions_[p].weights = weights(p);
    build(positions_[p], windows(p));
  });
  settled_ = true;
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
std::vector<WdStore::Leaf> WdStore::windows(int64_t p) const {
  std::vector<Leaf> leaves;
  const int64_t most = parameters_.largest_shift();
  for (int64_t shift = -most; shift <= most; ++shift) {
    const int64_t from = p + shift;
    if (from < 0 || from >= length_ || !parameters_.allows(std::min(p, from), shift)) continue;
    const double weight = parameters_.shift_weight(shift);
    for (const auto& [table, delta] : batches_) {
      const PlaneTable& a = *table;
      leaves.reserve(leaves.size() + delta.size());
      for (int64_t r = 0; r < a.n; ++r) {
        Leaf& leaf = leaves.emplace_back();
        leaf.delta = weight * delta[r];
        leaf.stop = stop_at(a, r, from, std::min(degree_, length_ - p));
        for (int64_t plane = 0; plane < planes_; ++plane)
          leaf.letters[plane] = window_at(a.letters(r) + plane * a.words, a.words, from);
      }
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
        put_away(position, sorted.data() + ends[e], sorted.data() + ends[e + 1], position.depth);
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
WdStore::Link WdStore::put_away(Position& position, Leaf* begin, Leaf* end, int64_t depth) const {
  return end - begin > kBucket ? branch(position, begin, end, depth) : keep(position, begin, end);
}

WdStore::Link WdStore::branch(Position& position, Leaf* begin, Leaf* end, int64_t depth) const {
  const uint32_t first = uint32_t(position.children.size());
  position.children.resize(first + (size_t{1} << planes_));
  auto letter = [&](const Leaf& leaf) { return leaf.letter(depth, planes_); };
  std::stable_sort(begin, end, [&](const Leaf& a, const Leaf& b) { return letter(a) < letter(b); });
  for (Leaf* from = begin; from < end;) {
    Leaf* to = from;
    double sum = 0.0;
    for (; to < end && letter(*to) == letter(*from); ++to) sum += to->delta;
    const uint32_t child = first + letter(*from);
    Leaf* on = std::stable_partition(
        from, to, [&](const Leaf& leaf) { return leaf.stop > uint64_t{2} << depth; });
    const Link below = from < on ? put_away(position, from, on, depth + 1) : Link{};
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

// Words that begin with the letters that the leaves share, and go on.
void WdStore::visit_words(int64_t p, Leaf* begin, Leaf* end, std::string& word,
                          const VisitWord& visit) const {
  const int64_t depth = int64_t(word.size());
  end = std::partition(begin, end, [&](const Leaf& leaf) { return leaf.stop >> depth > 1; });
  auto letter = [&](const Leaf& leaf) { return leaf.letter(depth, planes_); };
  std::sort(begin, end, [&](const Leaf& a, const Leaf& b) { return letter(a) < letter(b); });
  for (Leaf* from = begin; from < end;) {
    Leaf* to = from;
    double sum = 0.0;
    for (; to < end && letter(*to) == letter(*from); ++to) sum += to->delta;
    word.push_back(char(letter(*from)));
    if (sum * weights(p)[depth] != 0.0) visit(p, word, sum * weights(p)[depth]);
    visit_words(p, from, to, word, visit);
    word.pop_back();
    from = to;
  }
}

void WdStore::items(const VisitWord& visit) const {
  for (int64_t p = 0; p < length_; ++p) {
    std::vector<Leaf> leaves = windows(p);
    std::string word;
    visit_words(p, leaves.data(), leaves.data() + leaves.size(), word, visit);
  }
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

}  // namespace kw

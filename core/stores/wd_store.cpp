#include "stores/wd_store.h"

#include <stdexcept>

#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kTableBits = 16;   // bits of the largest table of a position
constexpr int64_t kMarkedBits = 18;  // bits of the largest mask of entries with leaves

// The smallest table with three entries for every two sequences. With fewer entries more sequences
// share one and branch; filling a larger table costs more than it saves.
int depth_for(int64_t rows, int64_t planes, int64_t degree) {
  const int64_t bits = std::bit_width(uint64_t(rows + rows / 2));
  return int(
      std::clamp<int64_t>((bits + planes - 1) / planes, 1, std::min(degree, kTableBits / planes)));
}

// One letter more than the table, unless the mask becomes too large.
int marked_letters(int64_t planes, int depth) {
  return planes * (depth + 1) <= kMarkedBits ? depth + 1 : depth;
}

// Calls visit(value, child) for all entries of a level and their children in the next level.
template <class Visit>
void for_children(int64_t planes, Buffer<double>& level, Buffer<double>& next, Visit visit) {
  double* child = next.data();
  if (planes == 2) {
    for (double& value : level)
      for (int letter = 0; letter < 4; ++letter) visit(value, *child++);
  } else {
    for (double& value : level)
      for (int letter = 0; letter < 1 << planes; ++letter) visit(value, *child++);
  }
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
      const int64_t plane = kernel.plane_of(p, k);
      const double factor = !planes ? 1.0 : plane < 0 ? 0.0 : planes[plane];
      weights_[p * degree_ + k] = factor * parameters_.weight(p, k);
      reach_[p * (degree_ + 1) + k + 1] = reach_[p * (degree_ + 1) + k] + weights_[p * degree_ + k];
    }
}

void WdStore::clear() {
  batches_.clear();
  positions_.assign(length_, Position{});
  prepared_ = true;
}

void WdStore::expect(int64_t planes) {
  planes_ = planes;
  tail_ = degree_ > letters_of_word(planes) ? planes : 0;
}

void WdStore::add(const Table& a, IdSpan rows, std::span<const double> delta) {
  if (table_as<PlaneTable>(a).length != length_)
    throw std::invalid_argument(
        "all sequences of a weight store of WeightedDegree must have the same length");
  auto table = std::dynamic_pointer_cast<const PlaneTable>(a.subset(rows));
  expect(table->planes);
  batches_.push_back({std::move(table), std::vector<double>(delta.begin(), delta.end())});
  prepared_ = false;
}

void WdStore::merge(const Store& other) {
  const auto* same = dynamic_cast<const WdStore*>(&other);
  if (!same || same->weights_ != weights_ || same->parameters_.shifts != parameters_.shifts)
    throw std::invalid_argument("the stores belong to different kernels");
  const std::vector<Batch> more = same->batches_;  // a copy, since `other` may be this store
  batches_.insert(batches_.end(), more.begin(), more.end());
  if (same->planes_) expect(same->planes_);
  prepared_ = false;
}

void WdStore::prepare(int threads) {
  if (prepared_) return;
  int64_t count = 0;
  for (const Batch& batch : batches_) count += int64_t(batch.delta.size());
  const int depth = depth_for(count * passes_, planes_, degree_);
  const WordReader read(planes_);
  run_team(threads, length_, [&](int64_t p, int) {
    positions_[p] = Position{};
    positions_[p].depth = int(std::min<int64_t>(depth, length_ - p));
    positions_[p].weights = weights(p);
    thread_local std::vector<uint64_t> added;
    windows(p, read, added);
    build(positions_[p], added);
  });
  prepared_ = true;
}

// Fitted to measurements (benchmarks/strings_crossover.py) with two planes and AVX2.
double WdStore::cost(const WdKernel& kernel, const PlaneTable& a, int64_t count, int64_t columns) {
  const int depth = depth_for(count * kernel.n_passes(), a.planes, kernel.parameters.degree());
  const double rows = double(count * kernel.n_passes());
  const double table = double(int64_t{1} << (a.planes * depth));
  const double marks = double(int64_t{1} << (a.planes * marked_letters(a.planes, depth)));
  const double hits = std::min(1.0, rows / marks) * (1.0 + rows / table);
  const bool by_level =
      kernel.parameters.value == WdValue::kDegrees || kernel.parameters.value == WdValue::kBoth;
  const double build = 30.0 * rows + 6.0 * table;
  const double lookup = (by_level ? 5.5 + 3.0 * depth : 5.5) + 20.0 * hits;
  return double(a.length) * (build + double(columns) * lookup);
}

uint32_t WdStore::letter(Leaf leaf, int64_t depth) const {
  if (depth < letters_of_word(planes_))
    return uint32_t(prefix(leaf[0], planes_, depth + 1) & ((uint64_t{1} << planes_) - 1));
  uint32_t code = 0;
  for (int64_t plane = 0; plane < planes_; ++plane)
    code |= uint32_t(leaf[kLeafHead + plane] >> depth & 1) << plane;
  return code;
}

// The letters of the added sequences from position p on, for each of their shifts.
void WdStore::windows(int64_t p, const WordReader& read, std::vector<uint64_t>& out) const {
  out.clear();
  const int64_t most = parameters_.largest_shift(), most_letters = std::min(degree_, length_ - p);
  for (int64_t shift = -most; shift <= most; ++shift) {
    const int64_t from = p + shift;
    if (from < 0 || from >= length_ || !parameters_.allows(std::min(p, from), shift)) continue;
    const double weight = parameters_.shift_weight(shift);
    for (const auto& [table, delta] : batches_) {
      const PlaneTable& a = *table;
      out.resize(out.size() + a.n * leaf_words());
      uint64_t* leaf = out.data() + out.size() - a.n * leaf_words();
      for (int64_t r = 0; r < a.n; ++r, leaf += leaf_words()) {
        leaf[0] = read(a, r, from) | uint64_t(known_from(a, r, from, most_letters));
        leaf[1] = std::bit_cast<uint64_t>(weight * delta[r]);
        for (int64_t plane = 0; plane < tail_; ++plane)
          leaf[kLeafHead + plane] = window_at(a.letters(r) + plane * a.words, a.words, from);
      }
    }
  }
}

void WdStore::build(Position& position, const std::vector<uint64_t>& added) const {
  fill_levels(position, added);
  sort_leaves(position, added);
  mark_leaves(position);
  const size_t places = position.starts.size() - 1;
  for (size_t place = 0; place < places; ++place) {
    const uint32_t begin = position.starts[place], end = position.starts[place + 1];
    if (end - begin <= kBucket) continue;
    const std::vector<uint64_t> copy(position.leaves.begin() + begin * leaf_words(),
                                     position.leaves.begin() + end * leaf_words());
    std::vector<Leaf> bucket;
    for (size_t at = 0; at < copy.size(); at += leaf_words()) bucket.push_back(copy.data() + at);
    position.branched.emplace_back(
        place, branch(position, bucket.data(), bucket.data() + bucket.size(), position.depth));
  }
}

void WdStore::fill_levels(Position& position, const std::vector<uint64_t>& added) const {
  const int depth = position.depth;
  position.levels.resize(depth);
  for (int k = 1; k <= depth; ++k) position.levels[k - 1].assign(size_t{1} << (planes_ * k), 0.0);
  for (size_t at = 0; at < added.size(); at += leaf_words()) {
    const Leaf leaf = added.data() + at;
    const int64_t known = std::min<int64_t>(depth, letters_in(leaf));
    if (known > 0) position.levels[known - 1][prefix(leaf[0], planes_, known)] += delta_of(leaf);
  }
  auto sum_up = [](double& sum, double& child) { sum += child; };
  auto hand_down = [](double& sum, double& child) { child += sum; };
  for (int k = depth; k > 1; --k)  // sums of delta by prefix
    for_children(planes_, position.levels[k - 2], position.levels[k - 1], sum_up);
  for (int k = 1; k <= depth; ++k)
    for (double& value : position.levels[k - 1]) value *= position.weights[k - 1];
  for (int k = 2; k <= depth && !by_degree(); ++k)
    for_children(planes_, position.levels[k - 2], position.levels[k - 1], hand_down);
}

// Counting sort of the leaves below the table by their entry.
void WdStore::sort_leaves(Position& position, const std::vector<uint64_t>& added) const {
  Buffer<uint32_t>& starts = position.starts;
  starts.assign(position.levels.back().size() + 1, 0);
  for (size_t at = 0; at < added.size(); at += leaf_words()) {
    const bool deeper = letters_in(added.data() + at) > position.depth;
    starts[prefix(added[at], planes_, position.depth) + 1] += deeper;
  }
  for (size_t e = 1; e < starts.size(); ++e) starts[e] += starts[e - 1];
  position.leaves.resize(starts.back() * leaf_words());
  thread_local std::vector<uint32_t> next;
  next.assign(starts.begin(), starts.end() - 1);
  for (size_t at = 0; at < added.size(); at += leaf_words()) {
    const Leaf leaf = added.data() + at;
    if (letters_in(leaf) <= position.depth) continue;
    const uint32_t to = next[prefix(leaf[0], planes_, position.depth)]++;
    std::copy_n(leaf, leaf_words(), position.leaves.data() + to * leaf_words());
  }
}

void WdStore::mark_leaves(Position& position) const {
  position.marked = marked_letters(planes_, position.depth);
  position.deeper.assign((size_t{1} << (planes_ * position.marked)) / 64 + 1, 0);
  for (size_t at = 0; at < position.leaves.size(); at += leaf_words()) {
    const uint64_t place = prefix(position.leaves[at], planes_, position.marked);
    position.deeper[place / 64] |= uint64_t{1} << (place % 64);
  }
}

// Stores leaves with the same first `depth` letters as a bucket or as a branch.
WdStore::Link WdStore::put_away(Position& position, Leaf* begin, Leaf* end, int64_t depth) const {
  return end - begin > kBucket ? branch(position, begin, end, depth) : keep(position, begin, end);
}

template <class Group>
void WdStore::by_letter(Leaf* begin, Leaf* end, int64_t depth, Group&& group) const {
  end = std::stable_partition(begin, end, [&](Leaf leaf) { return letters_in(leaf) > depth; });
  auto before = [&](Leaf a, Leaf b) { return letter(a, depth) < letter(b, depth); };
  std::stable_sort(begin, end, before);
  for (Leaf* from = begin; from < end;) {
    const uint32_t here = letter(*from, depth);
    Leaf* to = from;
    double sum = 0.0;
    for (; to < end && letter(*to, depth) == here; ++to) sum += delta_of(*to);
    group(here, sum, from, to);
    from = to;
  }
}

WdStore::Link WdStore::branch(Position& position, Leaf* begin, Leaf* end, int64_t depth) const {
  const uint32_t first = uint32_t(position.children.size());
  position.children.resize(first + (size_t{1} << planes_));
  by_letter(begin, end, depth, [&](uint32_t letter, double sum, Leaf* from, Leaf* to) {
    to = std::stable_partition(from, to, [&](Leaf leaf) { return letters_in(leaf) > depth + 1; });
    const Link link = from < to ? put_away(position, from, to, depth + 1) : Link{};
    position.children[first + letter] = {sum * position.weights[depth], link};
  });
  return {first, kBranch};
}

WdStore::Link WdStore::keep(Position& position, Leaf* begin, Leaf* end) const {
  const uint32_t first = uint32_t(position.leaves.size() / leaf_words());
  for (Leaf* leaf = begin; leaf < end; ++leaf)
    position.leaves.insert(position.leaves.end(), *leaf, *leaf + leaf_words());
  return {first, uint32_t(end - begin)};
}

WdStore::Link WdStore::Position::branch_at(uint32_t place) const {
  auto before = [](const auto& item, uint32_t key) { return item.first < key; };
  return std::lower_bound(branched.begin(), branched.end(), place, before)->second;
}

// Visits all words that begin with `word`, the letters that the leaves [begin, end) share.
void WdStore::visit_words(int64_t p, Leaf* begin, Leaf* end, std::string& word,
                          const VisitWord& visit) const {
  by_letter(begin, end, int64_t(word.size()),
            [&](uint32_t letter, double sum, Leaf* from, Leaf* to) {
              const double value = sum * weights(p)[word.size()];
              word.push_back(char(letter));
              if (value != 0.0) visit(p, word, value);
              visit_words(p, from, to, word, visit);
              word.pop_back();
            });
}

void WdStore::items(const VisitWord& visit) const {
  std::vector<uint64_t> added;
  const WordReader read(planes_);
  for (int64_t p = 0; p < length_; ++p) {
    windows(p, read, added);
    std::vector<Leaf> leaves;
    for (size_t at = 0; at < added.size(); at += leaf_words()) leaves.push_back(added.data() + at);
    std::string word;
    visit_words(p, leaves.data(), leaves.data() + leaves.size(), word, visit);
  }
}

int64_t WdStore::bytes() const {
  int64_t total = 0;
  for (const Position& at : positions_) {
    total += int64_t(at.starts.size() * sizeof(uint32_t) + at.children.size() * sizeof(Child) +
                     (at.leaves.size() + at.deeper.size()) * sizeof(uint64_t));
    for (const auto& level : at.levels) total += int64_t(level.size() * sizeof(double));
  }
  return total;
}

}  // namespace kw

#include "strings/wd_tries.h"

#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "simd/simd.h"
#include "system/team.h"

namespace kw {
namespace {

// Number of parts of the positions with separate sums, independent of the number of threads.
constexpr int64_t kTrieParts = 4;

struct Range {
  int64_t begin, end;
};

Range part_of(int64_t length, int64_t part) {
  return {length * part / kTrieParts, length * (part + 1) / kTrieParts};
}

}  // namespace

// A sequence from a position on: its letters, first letter highest, and the maximum length of a
// match.
struct WdTries::Record {
  uint64_t word;
  uint32_t id, known;
};

// Sequences in lexicographic order of their letters from a position on. Sorting stably by the
// letter at a position turns the order at the next position into the order at this one (Durbin,
// 2014). If two sequences share letters and the match of one must end there, that one comes first.
class WdTries::Order {
 public:
  Order(const PlaneTable& a, int64_t degree) : a_(a), degree_(degree), words_(a.planes * a.words) {
    transposed_.resize(words_ * a.n);
    for (int64_t i = 0; i < a.n; ++i)
      for (int64_t w = 0; w < words_; ++w) transposed_[w * a.n + i] = a.letters(i)[w];
    letters_.resize(a.n);
    before_.resize(a.n);
    records_.resize(a.n);
    for (int64_t i = 0; i < a.n; ++i) records_[i] = {0, uint32_t(i), 0};
  }

  const Buffer<Record>& records() const { return records_; }

  // Moves from position p + 1 to position p.
  void advance(int64_t p) {
    simd().wd->letters(transposed_.data() + p / 64 * a_.n, a_.planes, a_.words * a_.n, p % 64, a_.n,
                       letters_.data());
    records_.swap(before_);
    std::array<Record*, 257> to = sections(p);
    for (const Record& from : before_) {
      if (a_.hides(from.id, p)) {
        *to[256]++ = {0, from.id, 0};
        continue;
      }
      const uint64_t letter = letters_[from.id];
      const uint32_t known = std::min(from.known + 1, uint32_t(degree_));
      *to[letter]++ = {from.word >> a_.planes | letter << (64 - a_.planes), from.id, known};
    }
  }

  // The number of letters that records r and r + 1 share.
  int64_t shared(int64_t r) const {
    const Record &x = records_[r], &y = records_[r + 1];
    const int64_t letters = std::countl_zero(x.word ^ y.word) / a_.planes;
    return std::min<int64_t>({letters, x.known, y.known});
  }

 private:
  // The first record of each letter; unknown letters, which match nothing, come first.
  std::array<Record*, 257> sections(int64_t p) {
    std::array<int64_t, 257> counts = {};
    for (int64_t i = 0; i < a_.n; ++i) ++counts[a_.hides(i, p) ? 256 : letters_[i]];
    std::array<Record*, 257> begin;
    Record* next = records_.data();
    begin[256] = std::exchange(next, next + counts[256]);
    for (int64_t letter = 0; letter < 256; ++letter)
      begin[letter] = std::exchange(next, next + counts[letter]);
    return begin;
  }

  const PlaneTable& a_;
  const int64_t degree_, words_;
  Buffer<uint64_t> transposed_;  // transposed: the words of one position are contiguous
  Buffer<uint8_t> letters_;
  Buffer<Record> records_, before_;
};

// Builds a trie from sequences in lexicographic order. A node is opened by its first sequence, and
// closed and numbered by the first sequence that does not share its letters.
class WdTries::Growth {
 public:
  Trie grow(const Order& order) {
    const Buffer<Record>& records = order.records();
    const int64_t n = int64_t(records.size());
    Trie trie;
    trie.leaf.resize(n);
    depth_.clear();
    parent_.assign(n, 0);
    rank_.assign(n, 0);
    open(0);
    for (int64_t r = 0; r < n; ++r) {
      const int64_t shared = r + 1 < n ? order.shared(r) : 0;
      if (shared > depth_[open_.back()]) open(shared);
      trie.leaf[records[r].id] = open_.back();
      while (depth_[open_.back()] > shared) close(trie, shared);
    }
    finish(trie);
    return trie;
  }

 private:
  void open(int64_t depth) {
    open_.push_back(uint32_t(depth_.size()));
    depth_.push_back(uint8_t(depth));
  }

  void number(Trie& trie, uint32_t node) {
    rank_[node] = uint32_t(trie.depth.size());
    trie.depth.push_back(depth_[node]);
    trie.parent.push_back(parent_[node]);
  }

  // Closes the deepest node. Its parent must have at least `shared` letters, and is opened if
  // missing.
  void close(Trie& trie, int64_t shared) {
    const uint32_t node = open_.back();
    open_.pop_back();
    if (depth_[open_.back()] < shared) open(shared);
    parent_[node] = open_.back();
    number(trie, node);
  }

  void finish(Trie& trie) {
    number(trie, open_.back());  // the root is its own parent
    open_.clear();
    for (uint32_t& parent : trie.parent) parent = rank_[parent];
    for (uint32_t& leaf : trie.leaf) leaf = rank_[leaf];
  }

  std::vector<uint32_t> open_;
  Buffer<uint8_t> depth_;
  Buffer<uint32_t> parent_, rank_;
};

bool WdTries::serves(const WdKernel& kernel, const PlaneTable& a) {
  return kernel.n_passes() == 1 && a.n > 0 && a.n < int64_t(std::numeric_limits<uint32_t>::max()) &&
         kernel.parameters.degree() * a.planes <= 64;
}

int64_t WdTries::bytes(const PlaneTable& a) {
  const int64_t known = a.masked ? sizeof(uint8_t) : 0;
  return a.n * a.length * (int64_t(2 * sizeof(uint32_t) + sizeof(uint8_t)) + known);
}

WdTries::WdTries(const WdKernel& kernel, const PlaneTable& a, int64_t room, int threads)
    : a_(a),
      kernel_(kernel),
      n_(a.n),
      length_(kernel.length),
      degree_(kernel.parameters.degree()),
      reach_(length_ * (degree_ + 1), 0.0),
      kept_(std::min(1.0, double(room) / double(bytes(a)))),
      tries_(length_),
      own_(n_, 0.0) {
  run_team(threads, kTrieParts, [&](int64_t part, int) {
    const auto [begin, end] = part_of(length_, part);
    grow(first_kept(begin, end), end, [&](int64_t p, Trie trie) { tries_[p] = std::move(trie); });
  });
}

int64_t WdTries::first_kept(int64_t begin, int64_t end) const {
  return end - int64_t(kept_ * double(end - begin));
}

template <std::invocable<int64_t, WdTries::Trie> Take>
void WdTries::grow(int64_t begin, int64_t end, Take&& take) const {
  if (begin == end) return;
  Order order(a_, degree_);
  Growth growth;
  for (int64_t p = std::min(length_, end + degree_) - 1; p >= begin; --p) {
    order.advance(p);
    if (p >= end) continue;  // only the letters are needed, by the first tries
    Trie trie = growth.grow(order);
    if (a_.masked) {
      trie.known.resize(n_);
      for (const Record& record : order.records()) trie.known[record.id] = uint8_t(record.known);
    }
    take(p, std::move(trie));
    check_interrupt();
  }
}

template <std::invocable<const WdTries::Trie&, int64_t, double*> Work>
void WdTries::walk(int threads, int64_t size, double* out, Work&& work) const {
  std::vector<Buffer<double>> sums(kTrieParts);
  run_team(threads, kTrieParts, [&](int64_t part, int) {
    const auto [begin, end] = part_of(length_, part);
    double* own = (sums[part].assign(size, 0.0), sums[part].data());
    const int64_t kept = first_kept(begin, end);
    for (int64_t p = end - 1; p >= kept; --p) {
      work(tries_[p], p, own);
      check_interrupt();
    }
    grow(begin, kept, [&](int64_t p, Trie trie) { work(trie, p, own); });
  });
  for (const Buffer<double>& part : sums) simd().axpy(1.0, part.data(), out, size);
}

int64_t WdTries::known(const Trie& trie, int64_t p, int64_t i) const {
  return trie.known.empty() ? std::min(degree_, length_ - p) : trie.known[i];
}

void WdTries::weigh(const double* planes, int threads) {
  for (int64_t p = 0; p < length_; ++p)
    for (int64_t k = 0; k < degree_; ++k) {
      const int64_t at = p * (degree_ + 1) + k, plane = kernel_.plane_of(p, k);
      const double weight = plane < 0 ? 0.0 : planes[plane] * kernel_.parameters.weight(p, k);
      reach_[at + 1] = reach_[at] + weight;
    }
  std::fill(own_.begin(), own_.end(), 0.0);
  walk(threads, n_, own_.data(), [&](const Trie& trie, int64_t p, double* own) {
    for (int64_t i = 0; i < n_; ++i)
      own[i] += reach(p)[known(trie, p, i)] - reach(p)[trie.depth[trie.leaf[i]]];
  });
}

void WdTries::sum_up(const Trie& trie, const double* v, Buffer<double>& values) const {
  const int64_t root = int64_t(trie.parent.size()) - 1;
  values.assign(root + 1, 0.0);
  for (int64_t i = 0; i < n_; ++i) values[trie.leaf[i]] += v[i];
  for (int64_t node = 0; node < root; ++node) values[trie.parent[node]] += values[node];
}

void WdTries::add_product(const Trie& trie, int64_t p, const double* v, double* out) const {
  thread_local Buffer<double> values;
  const double* reached = reach(p);
  if (reached[degree_] == 0.0) return;  // no weight at this position
  sum_up(trie, v, values);
  const int64_t root = int64_t(values.size()) - 1;
  values[root] = 0.0;
  for (int64_t node = root - 1; node >= 0; --node) {
    const uint32_t parent = trie.parent[node];
    const double gain = reached[trie.depth[node]] - reached[trie.depth[parent]];
    values[node] = values[parent] + gain * values[node];
  }
  for (int64_t i = 0; i < n_; ++i) out[i] += values[trie.leaf[i]];
}

void WdTries::add(const double* v, int threads, double* out) const {
  walk(threads, n_, out,
       [&](const Trie& trie, int64_t p, double* sums) { add_product(trie, p, v, sums); });
  for (int64_t i = 0; i < n_; ++i) out[i] += own_[i] * v[i];
}

// The contribution of matches of k letters is the sum of squares over all nodes with depth >= k
// whose parents have depth < k.
void WdTries::add_quadratic(const Trie& trie, int64_t p, const double* v, double* out) const {
  thread_local Buffer<double> values;
  sum_up(trie, v, values);
  std::vector<double> squares(degree_ + 1, 0.0);
  for (size_t node = 0; node + 1 < values.size(); ++node) {
    const double square = values[node] * values[node];
    squares[trie.depth[node]] += square;
    squares[trie.depth[trie.parent[node]]] -= square;
  }
  for (int64_t i = 0; i < n_; ++i) {
    squares[known(trie, p, i)] += v[i] * v[i];
    squares[trie.depth[trie.leaf[i]]] -= v[i] * v[i];
  }
  for (int64_t k = degree_; k >= 1; --k) {
    if (k < degree_) squares[k] += squares[k + 1];
    const int64_t plane = kernel_.plane_of(p, k - 1);
    if (plane >= 0) out[plane] += kernel_.parameters.weight(p, k - 1) * squares[k];
  }
}

void WdTries::quadratic(const double* v, int threads, double* out) const {
  walk(threads, kernel_.planes(), out,
       [&](const Trie& trie, int64_t p, double* sums) { add_quadratic(trie, p, v, sums); });
}

void WdTries::add_outputs(const Trie& trie, int64_t p, const double* v, IdSpan ids,
                          double* out) const {
  const int64_t count = int64_t(ids.size());
  thread_local Buffer<double> values;
  sum_up(trie, v, values);
  const uint32_t root = uint32_t(values.size()) - 1;
  const auto add_matches = [&](int64_t from, int64_t to, double sum, double* target) {
    for (int64_t k = from; k < to; ++k) {
      const int64_t plane = kernel_.plane_of(p, k);
      if (plane >= 0) target[plane * count] += kernel_.parameters.weight(p, k) * sum;
    }
  };
  for (int64_t r = 0; r < count; ++r) {
    uint32_t node = trie.leaf[ids[r]];
    add_matches(trie.depth[node], known(trie, p, ids[r]), v[ids[r]], out + r);
    for (; node != root; node = trie.parent[node])
      add_matches(trie.depth[trie.parent[node]], trie.depth[node], values[node], out + r);
  }
}

// One walk computes all planes.
void WdTries::outputs(const double* v, IdSpan ids, const std::vector<bool>&, int threads,
                      double* out) const {
  const int64_t count = int64_t(ids.size());
  walk(threads, kernel_.planes() * count, out,
       [&](const Trie& trie, int64_t p, double* sums) { add_outputs(trie, p, v, ids, sums); });
}

}  // namespace kw

#include "strings/wd_tries.h"

#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "simd/simd.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kParts = 4;  // of the positions, summed up apart: as many whatever the threads

// A sequence from a position on: its letters, the first one highest, and how many of them a match
// may have.
struct Record {
  uint64_t word;
  uint32_t id, known;
};

struct Range {
  int64_t begin, end;
};

Range part_of(int64_t length, int64_t part) {
  return {length * part / kParts, length * (part + 1) / kParts};
}

}  // namespace

// Sequences in the order of a dictionary of their letters from a position on. A stable partition by
// the letter of a position turns the order of the next position into that of this one (Durbin,
// 2014). A sequence whose match must end comes before those that share its letters and go on.
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

  // From position p + 1 to position p.
  void advance(int64_t p) {
    simd().wd->letters(transposed_.data() + p / 64 * a_.n, a_.planes, a_.words * a_.n, p % 64, a_.n,
                       letters_.data());
    records_.swap(before_);
    std::array<Record*, 257> to = sections(p);
    for (const Record& from : before_) {
      if (hidden(from.id, p)) {
        *to[256]++ = {0, from.id, 0};
        continue;
      }
      const uint64_t letter = letters_[from.id];
      const uint32_t known = std::min(from.known + 1, uint32_t(degree_));
      *to[letter]++ = {from.word >> a_.planes | letter << (64 - a_.planes), from.id, known};
    }
  }

  // The letters that records r and r + 1 share.
  int64_t shared(int64_t r) const {
    const Record &x = records_[r], &y = records_[r + 1];
    const int64_t letters = std::countl_zero(x.word ^ y.word) / a_.planes;
    return std::min<int64_t>({letters, x.known, y.known});
  }

 private:
  bool hidden(uint32_t i, int64_t p) const {
    return a_.masked && (a_.unknown(i)[p / 64] >> (p % 64) & 1);
  }

  // Where the records of each letter begin; unknown ones, which share nothing, come first.
  std::array<Record*, 257> sections(int64_t p) {
    std::array<int64_t, 257> counts = {};
    for (int64_t i = 0; i < a_.n; ++i) ++counts[hidden(uint32_t(i), p) ? 256 : letters_[i]];
    std::array<Record*, 257> begin;
    Record* next = records_.data();
    begin[256] = std::exchange(next, next + counts[256]);
    for (int64_t letter = 0; letter < 256; ++letter)
      begin[letter] = std::exchange(next, next + counts[letter]);
    return begin;
  }

  const PlaneTable& a_;
  const int64_t degree_, words_;
  Buffer<uint64_t> transposed_;  // word by word, so that those of a position lie side by side
  Buffer<uint8_t> letters_;
  Buffer<Record> records_, before_;
};

// Makes a trie of sequences in order: nodes are opened when their first sequence comes, and closed,
// which numbers them, when one comes that lacks their letters.
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

  // Closes the deepest node; its parent has at least the letters that are still shared.
  void close(Trie& trie, int64_t shared) {
    const uint32_t node = open_.back();
    open_.pop_back();
    if (depth_[open_.back()] < shared) open(shared);
    parent_[node] = open_.back();
    number(trie, node);
  }

  void finish(Trie& trie) {
    number(trie, open_.back());  // the root, its own parent
    open_.clear();
    for (uint32_t& parent : trie.parent) parent = rank_[parent];
    for (uint32_t& leaf : trie.leaf) leaf = rank_[leaf];
  }

  std::vector<uint32_t> open_;
  Buffer<uint8_t> depth_;
  Buffer<uint32_t> parent_, rank_;
};

bool WdTries::serves(const WdKernel& kernel, const PlaneTable& a) {
  return kernel.parameters.value == WdValue::kSum && kernel.n_passes() == 1 && a.n > 0 &&
         a.n < int64_t(std::numeric_limits<uint32_t>::max()) &&
         kernel.parameters.degree() * a.planes <= 64;
}

int64_t WdTries::bytes(const PlaneTable& a) {
  return a.n * a.length * int64_t(2 * sizeof(uint32_t) + sizeof(uint8_t));
}

WdTries::WdTries(const WdKernel& kernel, const PlaneTable& a, int threads)
    : n_(a.n), length_(kernel.length), reach_(1, 0.0), tries_(length_), own_(n_, 0.0) {
  const int64_t degree = kernel.parameters.degree();
  for (double weight : kernel.parameters.weights) reach_.push_back(reach_.back() + weight);
  std::vector<std::vector<double>> own(kParts);
  run_team(threads, kParts, [&](int64_t part, int) {
    const auto [begin, end] = part_of(length_, part);
    own[part].assign(n_, 0.0);
    Order order(a, degree);
    Growth growth;
    for (int64_t p = std::min(length_, end + degree) - 1; p >= begin; --p) {
      order.advance(p);
      if (p >= end) continue;  // letters that the first tries will see
      tries_[p] = growth.grow(order);
      for (const Record& record : order.records())
        own[part][record.id] +=
            reach_[record.known] - reach_[tries_[p].depth[tries_[p].leaf[record.id]]];
      check_interrupt();
    }
  });
  for (const std::vector<double>& sums : own) simd().axpy(1.0, sums.data(), own_.data(), n_);
}

void WdTries::add_positions(int64_t p0, int64_t p1, const double* v, double* out) const {
  Buffer<double> values;
  for (int64_t p = p0; p < p1; ++p) {
    const Trie& trie = tries_[p];
    const int64_t root = int64_t(trie.parent.size()) - 1;
    values.assign(root + 1, 0.0);
    for (int64_t i = 0; i < n_; ++i) values[trie.leaf[i]] += v[i];
    for (int64_t node = 0; node < root; ++node) values[trie.parent[node]] += values[node];
    values[root] = 0.0;
    for (int64_t node = root - 1; node >= 0; --node) {
      const uint32_t parent = trie.parent[node];
      const double gain = reach_[trie.depth[node]] - reach_[trie.depth[parent]];
      values[node] = values[parent] + gain * values[node];
    }
    for (int64_t i = 0; i < n_; ++i) out[i] += values[trie.leaf[i]];
    check_interrupt();
  }
}

void WdTries::add(const double* v, int threads, double* out) const {
  std::vector<Buffer<double>> sums(kParts);
  run_team(threads, kParts, [&](int64_t part, int) {
    const auto [begin, end] = part_of(length_, part);
    sums[part].assign(n_, 0.0);
    add_positions(begin, end, v, sums[part].data());
  });
  for (const Buffer<double>& part : sums) simd().axpy(1.0, part.data(), out, n_);
  for (int64_t i = 0; i < n_; ++i) out[i] += own_[i] * v[i];
}

}  // namespace kw

// Weights of the substrings in an index, and their sum over all substrings of a new text:
//
//   out[c] = sum_u w(|u|) #u(text) v_c(u)
//
// where v_c(u) is the sum of the values given to the occurrences of u in the indexed texts, and w
// is a weight for each length (Vishwanathan and Smola, 2003). Kernel rows use one column c for each
// row.
#pragma once
#include <algorithm>
#include <array>
#include <memory>

#include "strings/suffix_index.h"

namespace kw {

// The weight of substrings by length.
struct LengthWeights {
  // each: w(1), w(2), ...
  explicit LengthWeights(std::vector<double> each) : each(std::move(each)), sums(1, 0.0) {
    for (double weight : this->each) sums.push_back(sums.back() + weight);
  }

  std::vector<double> each;
  std::vector<double> sums;  // sums[l] = w(1) + ... + w(l)

  int32_t longest() const { return int32_t(each.size()); }
  double weight(int32_t length) const { return each[size_t(length) - 1]; }
  // True if only substrings of `longest` letters have a weight: the k-mers of a spectrum kernel.
  bool single() const { return sums[sums.size() - 2] == 0.0; }
  bool operator==(const LengthWeights&) const = default;
};

template <int Columns>
class SubstringWeights {
 public:
  using Sum = std::array<double, Columns>;

  SubstringWeights(std::shared_ptr<const LengthWeights> lengths, std::vector<uint8_t> texts)
      : lengths_(std::move(lengths)),
        index_(std::move(texts), lengths_->longest()),
        values_(size_t(index_.size()) + 1, Sum{}) {}

  // Adds to the value of all substrings that begin at letters [first, last) of the texts.
  void add(int64_t first, int64_t last, int column, double value) {
    for (int64_t at = first; at < last; ++at)
      if (index_.texts()[size_t(at)]) values_[size_t(index_.entry_at(at))][size_t(column)] += value;
  }

  // Call after all calls of `add`, before `sum`.
  void finish() {
    if (lengths_->single()) return;
    add_up();
    find_nodes();
  }

  Sum sum(std::span<const uint8_t> texts) const {
    Sum total = {};
    if (lengths_->single()) {
      index_.match_longest(texts, [&](int32_t entry) { plus(total, values_[size_t(entry)], 1.0); });
      for (double& value : total) value *= lengths_->sums.back();
      return total;
    }
    index_.match(texts, [&](int32_t entry, int32_t length) { add_match(entry, length, total); });
    return total;
  }

  // Calls visit(letters, length, value) for all distinct substrings of a length with a nonzero
  // weight.
  template <class Visit>
  void each(Visit&& visit) const {
    const bool single = lengths_->single();
    for (int32_t entry = 0; entry < index_.size(); ++entry) {
      const uint8_t* letters = index_.letters(entry);
      for (int32_t l = 1; l <= index_.longest() && letters[l - 1]; ++l) {
        if (l <= index_.shared(entry) || lengths_->weight(l) == 0.0) continue;
        const int32_t last = single ? entry + 1 : index_.alike(entry, l).second;
        visit(letters, l, single ? values_[size_t(entry)] : between(entry, last));
      }
    }
  }

  const LengthWeights& lengths() const { return *lengths_; }
  const std::vector<uint8_t>& texts() const { return index_.texts(); }
  std::vector<uint8_t> take_texts() && { return std::move(index_).take_texts(); }
  int64_t bytes() const {
    return index_.bytes() + int64_t((values_.capacity() + paths_.capacity()) * sizeof(Sum) +
                                    node_at_.capacity() * sizeof(int32_t));
  }

 private:
  static void plus(Sum& to, const Sum& value, double factor) {
    for (int c = 0; c < Columns; ++c) to[size_t(c)] += factor * value[size_t(c)];
  }

  // The sum of the values of entries [first, last), after add_up.
  Sum between(int32_t first, int32_t last) const {
    Sum sum = values_[size_t(last)];
    plus(sum, values_[size_t(first)], -1.0);
    return sum;
  }

  // Cumulative sums: values_[e] becomes the sum over the entries before e.
  void add_up() {
    Sum total = {};
    for (Sum& value : values_) {
      const Sum own = value;
      value = total;
      plus(total, own, 1.0);
    }
  }

  // Finds the inner nodes of the suffix tree: maximal ranges of entries with the same first `depth`
  // letters. paths_: the sum over the prefixes u of a node of w(|u|) v(u).
  void find_nodes() {
    struct Open {
      int32_t node, depth, first;
    };
    const int32_t count = index_.size();
    std::vector<Open> open = {{0, 0, 0}};
    std::vector<int32_t> parent = {0}, closed;
    paths_.assign(1, Sum{});
    node_at_.assign(size_t(count), 0);
    for (int32_t entry = 1; entry <= count; ++entry) {
      const int32_t depth = entry < count ? index_.shared(entry) : 0;
      int32_t first = entry - 1;
      while (open.back().depth > depth) {
        const Open node = open.back();
        open.pop_back();
        const bool nested = open.back().depth >= depth;  // otherwise the parent begins here
        parent[size_t(node.node)] = nested ? open.back().node : int32_t(paths_.size());
        const int32_t above = nested ? open.back().depth : depth;
        const double weight = lengths_->sums[size_t(node.depth)] - lengths_->sums[size_t(above)];
        plus(paths_[size_t(node.node)], between(node.first, entry), weight);
        closed.push_back(node.node);
        first = node.first;
      }
      if (open.back().depth < depth) {
        open.push_back({int32_t(paths_.size()), depth, first});
        paths_.emplace_back();
        parent.push_back(0);
      }
      if (entry < count) node_at_[size_t(entry)] = open.back().node;
    }
    for (auto node = closed.rbegin(); node != closed.rend(); ++node)
      plus(paths_[size_t(*node)], paths_[size_t(parent[size_t(*node)])], 1.0);
  }

  void add_match(int32_t entry, int32_t length, Sum& total) const {
    const auto [first, last] = index_.alike(entry, length);
    const bool right = last < index_.size() && index_.shared(last) > index_.shared(first);
    const int32_t above = right ? last : first;  // an entry whose node is the parent of the match
    const double weight =
        lengths_->sums[size_t(length)] - lengths_->sums[size_t(index_.shared(above))];
    plus(total, paths_[size_t(node_at_[size_t(above)])], 1.0);
    if (weight != 0.0) plus(total, between(first, last), weight);
  }

  std::shared_ptr<const LengthWeights> lengths_;
  SuffixIndex index_;
  std::vector<Sum> values_;       // of each entry; unless `single`, cumulative
  std::vector<Sum> paths_;        // of each node, the root first
  std::vector<int32_t> node_at_;  // the node of the letters shared by an entry and the one before
};

}  // namespace kw

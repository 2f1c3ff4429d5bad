// The edges of a trie: from a node, by a letter, to another node. Small alphabets use one array per
// node; large ones share a hash map.
#pragma once
#include "stores/open_map.h"

namespace kw {

class Edges {
 public:
  static constexpr uint32_t kNowhere = 0;  // index of the root, to which no edge leads

  explicit Edges(uint64_t letters) : letters_(letters), dense_(letters <= kSmall) {}

  uint32_t size() const { return nodes_; }
  int64_t bytes() const {
    return int64_t(targets_.capacity() * sizeof(uint32_t)) + (dense_ ? 0 : map_.bytes());
  }

  uint32_t add_node() {
    if (dense_) targets_.resize(targets_.size() + letters_, kNowhere);
    return nodes_++;
  }
  uint32_t to(uint32_t node, uint8_t letter) const {
    if (dense_) return targets_[node * letters_ + letter];
    const uint32_t* found = map_.find(node * letters_ + letter);
    return found ? *found : kNowhere;
  }
  void set(uint32_t node, uint8_t letter, uint32_t target) {
    (dense_ ? targets_[node * letters_ + letter] : map_[node * letters_ + letter]) = target;
  }
  uint32_t copy_node(uint32_t node) {
    const uint32_t twin = add_node();
    for (uint64_t letter = 0; letter < letters_; ++letter)
      if (const uint32_t target = to(node, uint8_t(letter))) set(twin, uint8_t(letter), target);
    return twin;
  }

 private:
  static constexpr uint64_t kSmall = 8;

  uint64_t letters_;
  bool dense_;
  uint32_t nodes_ = 0;
  std::vector<uint32_t> targets_;
  OpenMap<uint32_t> map_;
};

}  // namespace kw

// The weighted degree kernel of a set of sequences as an operator: K v for any v, in a time that is
// linear in the number of letters.
//
// For every position there is a trie of the letters that follow it in all sequences, made once.
// Nodes that belong to one sequence alone are left out, and of a chain of nodes with the same
// sequences the deepest one stays. K v is then two walks over each trie: sums of v from the leaves
// to the root, and the weights of matches from the root to the leaves. What a sequence shares with
// no other is a multiple of its own v.
#pragma once
#include "strings/wd_kernel.h"
#include "system/recycled.h"

namespace kw {

class WdTries : public Product {
 public:
  // Whether matches fit into a word, and sequences are not shifted.
  static bool serves(const WdKernel& kernel, const PlaneTable& a);
  // Bytes that the tries of n sequences take at most.
  static int64_t bytes(const PlaneTable& a);

  WdTries(const WdKernel& kernel, const PlaneTable& a, int threads);

  void add(const double* v, int threads, double* out) const override;

 private:
  // Nodes come after their children; the root is the last one.
  struct Trie {
    Buffer<uint32_t> leaf;    // the deepest node of each sequence
    Buffer<uint32_t> parent;  // of each node
    Buffer<uint8_t> depth;    // of each node: the letters that its sequences share
  };
  class Order;
  class Growth;

  // Sums up K v over positions [p0, p1).
  void add_positions(int64_t p0, int64_t p1, const double* v, double* out) const;

  const int64_t n_, length_;
  std::vector<double> reach_;  // by length: the weight of a match and of all shorter ones
  std::vector<Trie> tries_;
  std::vector<double> own_;  // what v_i adds to (K v)_i beyond the nodes of i
};

}  // namespace kw

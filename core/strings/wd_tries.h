// The weighted degree kernel of a set of sequences as an operator: K v for any v, in a time that is
// linear in the number of letters.
//
// For every position there is a trie of the letters that follow it in all sequences, made once.
// Nodes that belong to one sequence alone are left out, and of a chain of nodes with the same
// sequences the deepest one stays. K v is then two walks over each trie: sums of v from the leaves
// to the root, and the weights of matches from the root to the leaves. What a sequence shares with
// no other is a multiple of its own v. The sums at the nodes determine v' K v for matches of every
// length from every position on: a family of kernels takes no longer than one.
#pragma once
#include "strings/wd_kernel.h"
#include "system/recycled.h"

namespace kw {

class WdTries : public Product {
 public:
  // True if matches fit into a word, and sequences are not shifted.
  static bool serves(const WdKernel& kernel, const PlaneTable& a);
  // Bytes that the tries of n sequences take at most.
  static int64_t bytes(const PlaneTable& a);

  // room: bytes of tries that stay in memory; the others are made anew whenever they are walked.
  WdTries(const WdKernel& kernel, const PlaneTable& a, int64_t room, int threads);

  void weigh(const double* planes, int threads) override;
  void add(const double* v, int threads, double* out) const override;
  void quadratic(const double* v, int threads, double* out) const override;
  void outputs(const double* v, IdSpan ids, const std::vector<bool>& wanted, int threads,
               double* out) const override;

 private:
  // Nodes come after their children; the root is the last one.
  struct Trie {
    Buffer<uint32_t> leaf;    // the deepest node of each sequence
    Buffer<uint32_t> parent;  // parent of each node
    Buffer<uint8_t> depth;    // of a node: number of letters that its sequences share
    Buffer<uint8_t> known;    // of a sequence: longest possible match; empty: equal for all
  };
  class Order;
  class Growth;

  // The longest match of sequence i from position p on, whose trie is given.
  int64_t known(const Trie& trie, int64_t p, int64_t i) const;
  // The sum of v over the sequences of each node of the trie of a position.
  void sum_up(const Trie& trie, const double* v, Buffer<double>& values) const;
  // Contribution of the trie of a position to each result.
  void add_product(const Trie& trie, int64_t p, const double* v, double* out) const;
  void add_quadratic(const Trie& trie, int64_t p, const double* v, double* out) const;
  void add_outputs(const Trie& trie, int64_t p, const double* v, IdSpan ids, double* out) const;
  // The first position in [begin, end) whose trie is cached.
  int64_t first_kept(int64_t begin, int64_t end) const;
  const double* reach(int64_t p) const { return reach_.data() + p * (degree_ + 1); }
  // Makes the tries of positions [begin, end), the last one first, and calls take(p, trie).
  template <std::invocable<int64_t, Trie> Take>
  void grow(int64_t begin, int64_t end, Take&& take) const;
  // Calls work(trie, p, sums) for all positions. Parts of these have sums of their own, which are
  // added to out, shape (size,), at the end.
  template <std::invocable<const Trie&, int64_t, double*> Work>
  void walk(int threads, int64_t size, double* out, Work&& work) const;

  const PlaneTable& a_;
  const WdKernel kernel_;
  const int64_t n_, length_, degree_;
  std::vector<double> reach_;  // length x (degree + 1): the weight of a match and all shorter ones
  const double kept_;          // part of the tries
  std::vector<Trie> tries_;    // of all positions; empty if not cached
  std::vector<double> own_;    // contribution of v_i to (K v)_i beyond the nodes of i
};

}  // namespace kw

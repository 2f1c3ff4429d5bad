// Matrix-vector products K v of the weighted degree kernel on a set of sequences, in time linear in
// the number of letters.
//
// For every position there is a trie of the letters that follow it in all sequences, built once.
// Only branching nodes are stored: nodes of a single sequence, and nodes with the same sequences as
// one of their children, are left out. A product K v takes two walks over each trie: from the
// leaves to the root, v is summed up; from the root to the leaves, the weights of matches are
// added. The contribution of a sequence to its own output, beyond the nodes, is a multiple of v_i.
// The sums at the nodes also determine v' K v for matches of every length at every position, so
// that a family of kernels takes no longer than one kernel.
#pragma once
#include "strings/wd_kernel.h"
#include "system/recycled.h"

namespace kw {

class WdTries : public Product {
 public:
  // True if matches fit into a 64-bit word and there are no shifts.
  static bool serves(const WdKernel& kernel, const PlaneTable& a);
  // Upper bound of the bytes of the tries of all sequences.
  static int64_t bytes(const PlaneTable& a);

  // room: bytes of tries that are cached; the others are rebuilt in every walk.
  WdTries(const WdKernel& kernel, const PlaneTable& a, int64_t room, int threads);

  void weigh(const double* planes, int threads) override;
  void add(const double* v, int threads, double* out) const override;
  void quadratic(const double* v, int threads, double* out) const override;
  void outputs(const double* v, IdSpan ids, const std::vector<bool>& wanted, int threads,
               double* out) const override;

 private:
  // Children have smaller indices than their parents; the root is the last node.
  struct Trie {
    Buffer<uint32_t> leaf;    // the deepest node of each sequence
    Buffer<uint32_t> parent;  // parent of each node
    Buffer<uint8_t> depth;    // of a node: number of letters that its sequences share
    Buffer<uint8_t> known;    // of a sequence: maximum length of a match; empty: equal for all
  };
  struct Record;
  class Order;
  class Growth;

  // The maximum length of a match of sequence i from position p on, where `trie` is the trie of p.
  int64_t known(const Trie& trie, int64_t p, int64_t i) const;
  // The sum of v over the sequences of each node of a trie.
  void sum_up(const Trie& trie, const double* v, Buffer<double>& values) const;
  // Add the contribution of the trie of position p to each result.
  void add_product(const Trie& trie, int64_t p, const double* v, double* out) const;
  void add_quadratic(const Trie& trie, int64_t p, const double* v, double* out) const;
  void add_outputs(const Trie& trie, int64_t p, const double* v, IdSpan ids, double* out) const;
  // The first position in [begin, end) whose trie is cached.
  int64_t first_kept(int64_t begin, int64_t end) const;
  const double* reach(int64_t p) const { return reach_.data() + p * (degree_ + 1); }
  // Builds the tries of positions [begin, end), the last one first, and calls take(p, trie).
  template <std::invocable<int64_t, Trie> Take>
  void grow(int64_t begin, int64_t end, Take&& take) const;
  // Calls work(trie, p, sums) for all positions. Positions are divided into parts, each with
  // separate sums (size values), which are added to out at the end.
  template <std::invocable<const Trie&, int64_t, double*> Work>
  void walk(int threads, int64_t size, double* out, Work&& work) const;

  const PlaneTable& a_;
  const WdKernel kernel_;
  const int64_t n_, length_, degree_;
  std::vector<double> reach_;  // length x (degree + 1): the weight of a match and all shorter ones
  const double kept_;          // fraction of the tries that is cached
  std::vector<Trie> tries_;    // one per position; empty if not cached
  std::vector<double> own_;    // contribution of v_i to (K v)_i beyond the nodes
};

}  // namespace kw

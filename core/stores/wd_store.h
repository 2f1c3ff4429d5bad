// The weight vector of a linear combination of weighted degree kernels, sum_r delta_r k(x_r, .),
// one trie for each position.
//
// The trie of a position contains the letters that follow it in the added sequences. Its first
// `depth` levels are one table, indexed by these letters, with the sum of the weights of all
// shorter matches. Below the table, up to kBucket sequences are stored as leaves and compared bit
// by bit; more sequences branch by their next letter. The cost of a look-up is thus one table
// access per position, for any number of added sequences. Table entries are in lexicographic order,
// and sequences are looked up in that order (wd_lookup.cpp).
#pragma once
#include <bit>

#include "stores/store.h"
#include "strings/wd_kernel.h"
#include "strings/wd_window.h"
#include "system/recycled.h"

namespace kw {

class WdStore : public Store {
 public:
  static constexpr int64_t kMaxDegree = 63;

  // planes: weights that combine the planes of the kernel into one, or null.
  WdStore(const WdKernel& kernel, const double* planes);

  const char* kind() const override { return "trie"; }
  void clear() override;
  void add(const Table& a, IdSpan rows, std::span<const double> delta) override;
  void merge(const Store& other) override;
  void prepare(int threads) override;
  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t stride) const override;
  void items(const VisitWord& visit) const override;
  int64_t bytes() const override;

  // Estimates the nanoseconds to add `count` examples and look up `columns` others, on one thread.
  static double cost(const WdKernel& kernel, const PlaneTable& a, int64_t count, int64_t columns);

 private:
  // Sequences that were added, with their factors.
  struct Batch {
    std::shared_ptr<const PlaneTable> table;
    std::vector<double> delta;
  };
  // The children of an entry: `count` leaves from index `first` on, or children if count ==
  // kBranch.
  struct Link {
    uint32_t first = 0, count = 0;
  };
  struct Child {
    double value = 0.0;  // weight gained by reaching it
    Link link;
  };
  // An added sequence from a position on: a word of its letters, tagged with their number; delta;
  // and, if matches may be longer than a word, 64 letters of each plane.
  using Leaf = const uint64_t*;
  static constexpr int64_t kLeafHead = 2;
  static constexpr uint32_t kBranch = ~uint32_t{0}, kBucket = 12;
  struct Position {
    int depth = 0;
    const double* weights = nullptr;  // weights of matches that start here, by length
    // For each length up to depth: a table, by letters, of the weight of the match of that length
    // (if the result is by degree), or of all matches up to that length.
    std::vector<Buffer<double>> levels;
    // A bit is set if there are leaves below an entry. Entries of this mask are named by `marked`
    // letters, one more than `depth` if memory allows, so that few look-ups search leaves in vain.
    int marked = 0;
    Buffer<uint64_t> deeper;
    Buffer<uint32_t> starts;  // the first leaf below each entry
    Buffer<uint64_t> leaves;  // sorted by entry
    std::vector<Child> children;
    std::vector<std::pair<uint32_t, Link>> branched;  // entries that branch, sorted

    Link below(uint32_t place) const {
      const uint32_t count = starts[place + 1] - starts[place];
      return count <= kBucket ? Link{starts[place], count} : branch_at(place);
    }
    // The children of an entry with more than kBucket leaves.
    Link branch_at(uint32_t place) const;
  };
  struct Block;
  struct Reading;

  void expect(int64_t planes);
  int64_t leaf_words() const { return kLeafHead + tail_; }
  bool by_degree() const { return value_ == WdValue::kDegrees || value_ == WdValue::kBoth; }
  static int64_t letters_in(Leaf leaf) { return int64_t(leaf[0] & kTag); }
  static double delta_of(Leaf leaf) { return std::bit_cast<double>(leaf[1]); }
  uint32_t letter(Leaf leaf, int64_t depth) const;

  void windows(int64_t p, const WordReader& read, std::vector<uint64_t>& out) const;
  void build(Position& position, const std::vector<uint64_t>& added) const;
  void fill_levels(Position& position, const std::vector<uint64_t>& added) const;
  void sort_leaves(Position& position, const std::vector<uint64_t>& added) const;
  void mark_leaves(Position& position) const;
  Link put_away(Position& position, Leaf* begin, Leaf* end, int64_t depth) const;
  Link branch(Position& position, Leaf* begin, Leaf* end, int64_t depth) const;
  Link keep(Position& position, Leaf* begin, Leaf* end) const;
  // Groups leaves with more than `depth` letters by the next letter; calls group(letter, sum of
  // delta, begin, end).
  template <class Group>
  void by_letter(Leaf* begin, Leaf* end, int64_t depth, Group&& group) const;
  void visit_words(int64_t p, Leaf* begin, Leaf* end, std::string& word,
                   const VisitWord& visit) const;

  template <int P>
  int64_t shared_letters(Leaf leaf, const Reading& reading) const;
  template <int P, class Sink>
  void descend(const Position& position, const Reading& reading, Sink& sink) const;
  template <class Sink>
  void walk_masked(const Block& block, int64_t j, int64_t p, Sink& sink) const;
  template <class Walk>
  void pass_below(Block& block, int64_t p, Walk&& walk) const;
  template <int P>
  void pass_total(Block& block, int64_t p, double* out) const;
  template <int P>
  void pass_degrees(Block& block, int64_t p, double* out, int64_t stride) const;
  template <int P>
  void lookup_block(Block& block, double* out, int64_t stride) const;

  const double* weights(int64_t p) const { return weights_.data() + p * degree_; }
  const double* reach(int64_t p) const { return reach_.data() + p * (degree_ + 1); }

  const WdParameters parameters_;
  const int64_t length_, degree_, passes_;
  const WdValue value_;
  int64_t planes_ = 0;  // bit planes of the letters; set by the first sequence
  int64_t tail_ = 0;    // words of a leaf after its head: one for each plane if matches may be long
  std::vector<Batch> batches_;
  bool prepared_ = true;
  std::vector<double> weights_;  // length x degree
  std::vector<double> reach_;    // length x (degree + 1): sums of the first k weights
  std::vector<Position> positions_;
};

}  // namespace kw

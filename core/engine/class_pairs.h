// Two-class SVMs for all pairs of classes of one training set (one against one).
//
// The examples are sorted by class. Pair (a, b), a < b, consists of the examples of class a,
// followed by those of class b; pairs are in the order (0, 1), (0, 2), ..., (1, 2), ... Vectors
// over all pairs (alpha, outputs, dual terms) concatenate the vectors of the pairs.
//
// Every pair is the convex problem of solvers/subproblem.h over all of its examples, solved by
// decomposition: working sets are selected by KKT violation until the relative duality gap is small
// enough. The kernel rows of a working set are computed together. The part of a row inside the
// class of its example is the same in all pairs of that class. All workers share a cache of these
// parts; models do not depend on the number of workers.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/profile.h"
#include "kernels/program.h"
#include "solvers/subproblem.h"
#include "system/recycled.h"

namespace kw {

struct PairTarget {
  double gap;           // relative duality gap at which a pair is solved
  int64_t working_set;  // maximum number of examples of a working set
  int64_t fresh;        // maximum number of them whose rows are not cached
  int64_t most_sets;    // maximum number of working sets per pair
};

class ClassPairs {
 public:
  // starts: position of the first example of each class, then the number of examples. With
  // `combine` the weighted sum of all kernels is evaluated as one piecewise polynomial of each
  // shared quantity.
  ClassPairs(std::shared_ptr<const Program> program, const Side& side, std::vector<int64_t> starts,
             int64_t cache_bytes, int threads, bool combine);

  int64_t n() const { return pairs_.empty() ? 0 : pairs_.back().first + pairs_.back().size(); }
  int64_t n_pairs() const { return int64_t(pairs_.size()); }
  int64_t size(int64_t pair) const { return pairs_[pair].size(); }  // examples of a pair
  int64_t n_kernels() const { return program_->n_kernels(); }
  int threads() const { return threads_; }

  // Sets the weights of the kernels.
  void weigh(const double* weights);
  // Improves alpha of the chosen pairs, and sets their outputs, which are computed from scratch at
  // the end. constants: primal value of the constant model of every pair; gaps: the relative
  // duality gap of each chosen pair.
  void solve(IdSpan chosen, const DualTerm& term, const double* constants, const PairTarget& target,
             double* alpha, double* outputs, double* gaps) const;
  // out: the combined outputs of alpha, pair by pair.
  void outputs(const double* alpha, double* out) const;
  // out (count x count): the combined kernel between examples of a pair, whose positions in the
  // pair are increasing.
  void block(int64_t pair, IdSpan ids, double* out) const;
  // out (M): alpha' K_m alpha, summed over all pairs.
  void quadratic(const double* alpha, double* out) const;

 private:
  friend class PairRows;
  struct Pair {
    int64_t a, b, first, n_a, n_b;
    int64_t size() const { return n_a + n_b; }
  };
  // Scratch memory of a worker. `sweep` would allocate it in every call, which takes longer than
  // computing the few rows of a working set.
  struct Scratch {
    std::vector<double> tile, stack;
  };
  // Partial sums of alpha' K_m alpha. With profiles: moments of each plane, from which
  // Profile::integrate computes the sums of all kernels (engine/profile.h).
  struct Norms {
    std::vector<double> sums;
    std::vector<Buffer<double>> moments;
  };
  // Adds one row of a block, factor * others, or all blocks of a pair. `diagonal`: the first column
  // of the row is its own example.
  void add_norms(const RowView& view, double* stack, double factor, const double* others,
                 bool diagonal, Norms& norms) const;
  void add_norms(const Pair& pair, const double* alpha, Norms& norms) const;
  // Calls visit(r, j0, values, n) with the kernel values of example ids[r] of `rows` and examples
  // [j0, j0 + n) of `columns`.
  template <typename Visit>
  void each_row(Scratch& scratch, const Side& rows, IdSpan ids, const Side& columns,
                Visit&& visit) const;
  void combined_row(const RowView& view, double* stack, double* values) const;

  const std::shared_ptr<const Program> program_;
  std::vector<Side> classes_;
  std::vector<Pair> pairs_;
  int64_t widest_ = 0;        // number of examples of the largest pair
  int64_t rows_at_once_ = 1;  // see Quantity::rows_at_once
  const int64_t cache_bytes_;
  const int threads_;
  std::vector<double> weights_;
  std::vector<Group> groups_;
  std::vector<Profile> profiles_;  // one for each plane; empty if kernels are evaluated one by one
};

}  // namespace kw

// The two-class problems of all pairs of classes over the same examples (one against one).
//
// The examples are sorted by class. Pair (a, b), a < b, consists of the examples of class a, then
// those of class b; pairs are in the order (0, 1), (0, 2), ..., (1, 2), ... Vectors over all pairs
// (alpha, outputs, dual terms) have one pair after the other.
//
// A pair is solved by working sets. The rows of a working set are computed together; the part of a
// row that belongs to the class of its example is the same in all pairs of that class, and is kept
// from pair to pair. Every worker has rows of its own, so that workers share nothing that changes.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/profile.h"
#include "kernels/program.h"
#include "solvers/subproblem.h"

namespace kw {

struct PairTarget {
  double gap;           // relative duality gap at which a pair is solved
  int64_t working_set;  // examples of a working set
  int64_t fresh;        // of them, those whose rows are new
  int64_t most_sets;    // working sets after which a pair is given up
};

class ClassPairs {
 public:
  // starts: position of the first example of each class, and the number of examples. With
  // `combine` all kernels are evaluated as one piecewise polynomial of each shared quantity.
  ClassPairs(std::shared_ptr<const Program> program, const Side& side, std::vector<int64_t> starts,
             int64_t cache_bytes, int threads, bool combine);

  int64_t n() const { return pairs_.empty() ? 0 : pairs_.back().first + pairs_.back().size(); }
  int64_t n_pairs() const { return int64_t(pairs_.size()); }
  int64_t n_kernels() const { return program_->n_kernels(); }
  int threads() const { return threads_; }

  // Sets the weights of the kernels.
  void weigh(const double* weights);
  // Improves alpha of some pairs, and sets their outputs, computed from scratch at the end.
  // constants: primal value of the constant model of every pair; gaps: one for each chosen pair.
  void solve(IdSpan chosen, const DualTerm& term, const double* constants, const PairTarget& target,
             double* alpha, double* outputs, double* gaps) const;
  // out: the combined outputs of alpha.
  void outputs(const double* alpha, double* out) const;
  // out (pairs x M): alpha' K_m alpha of each pair.
  void quadratic(const double* alpha, double* out) const;

 private:
  friend class PairRows;
  struct Pair {
    int64_t a, b, first, n_a, n_b;
    int64_t size() const { return n_a + n_b; }
  };
  // Memory of a worker for tiles of shared quantities; what `sweep` allocates for every call takes
  // longer than the few rows of a working set.
  struct Scratch {
    std::vector<double> tile, stack;
  };
  // Calls visit(r, j0, values, n) for some examples of class a against all of class b.
  template <typename Visit>
  void each_row(Scratch& scratch, int64_t a, IdSpan ids, int64_t b, Visit&& visit) const;
  void combined_row(const RowView& view, double* stack, double* values) const;

  const std::shared_ptr<const Program> program_;
  std::vector<Side> classes_;
  std::vector<Pair> pairs_;
  int64_t widest_ = 0;  // examples of the largest pair
  const int64_t cache_bytes_;
  const int threads_;
  std::vector<double> weights_;
  std::vector<Group> groups_;
  std::vector<Profile> profiles_;  // one for each plane, or none
};

}  // namespace kw

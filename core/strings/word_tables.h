// Weights of single words in a sum of weighted degree kernels: k-mer extraction (Sonnenburg,
// Raetsch and Rieck, 2007, section 4.6.2).
//
// A sum sum_i delta_i k(x_i, .) gives every word v at every position q a weight. The weight of a
// word u at position p is the sum of the weights of all words v that overlap u at p and agree with
// it there, each times the background probability of its letters outside u. The tables take time
// and memory proportional to positions x letters^k, plus sequences x positions x degree.
//
//   W[u, p] = sum over words v at q that overlap [p, p + k), agreeing with u there, of
//             w[v, q] * the probability of the letters of v outside [p, p + k)
//
// Each sequence adds, for the letters that it has in an interval, four numbers: the weights of the
// word itself (exact), of the words that end with it and may begin before (left), that begin with
// it and may end after (right), and that contain it (both). Tables of their sums over all sequences
// are all that W needs.
#pragma once
#include <cstdint>
#include <vector>

#include "strings/plane_table.h"

namespace kw {

struct WdWordRule {
  int64_t letters;              // size of the alphabet
  int64_t degree;               // longest word of the kernel
  std::vector<int64_t> shifts;  // a sequence counts once for each of these shifts
  // shifts x length x degree: weight of a word, by the position where it begins.
  std::vector<double> weights;
  std::vector<double> background;  // probability of each letter
};

class WordTables {
 public:
  // For words of up to `longest` letters in positions [begin, end).
  WordTables(WdWordRule rule, const PlaneTable& a, const double* delta, int64_t longest,
             int64_t begin, int64_t end, int threads);

  // Bytes of the tables of `positions` positions.
  static double bytes(int64_t letters, int64_t longest, int64_t positions);

  int64_t words(int64_t k) const { return powers_[k]; }
  int64_t longest() const { return longest_; }
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  // out[u] = W[u, p] for all words of k letters. Requires p + k <= end().
  void weights(int64_t k, int64_t p, double* out) const;

 private:
  struct Sums {
    double exact = 0.0, left = 0.0, right = 0.0, both = 0.0;
  };
  class Sequence;

  void add(const Sequence& sequence, int64_t s, double delta, int64_t from, int64_t to);
  // The tables of intervals of k letters from position p on.
  const Sums* at(int64_t k, int64_t p) const {
    return tables_[k].data() + (p - begin_) * powers_[k];
  }

  const WdWordRule rule_;
  const int64_t length_, longest_, begin_, end_;
  std::vector<int64_t> powers_;            // letters^k
  std::vector<std::vector<Sums>> tables_;  // by number of letters
  std::vector<double> last_;               // `both` of the longest words, which need nothing else
};

}  // namespace kw

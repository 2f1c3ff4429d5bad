// Passes over pairs of examples in single precision, for optimisers that need no more accuracy.
//
// The algorithm differs from that of the passes in double precision (mixture.h). Those read cached
// rows, or compute them by BLAS, and look up cubic polynomials in memory, with 256 cells for every
// factor of two. Here kernels are functions of the squared distance of short vectors: distances are
// recomputed in registers, and the weighted sum of the kernels is a polynomial of degree 4 or 6 in
// each of at most 64 cells, whose coefficients fit into registers. The two share the choice and the
// fit of the cells (functions.h) and the lookup of a cell (simd/cell_math.h). Sums over examples
// are in double precision. Values are within about 1e-6 of the kernels' sizes; a certificate needs
// the passes in double precision.
#pragma once
#include <memory>
#include <vector>

#include "engine/functions.h"
#include "engine/single_table.h"
#include "simd/single.h"
#include "system/recycled.h"

namespace kw {

// The kernels of one plane, tabulated for single precision.
class SingleFamily {
 public:
  SingleFamily(const Program& program, int64_t plane, std::shared_ptr<const SingleTable> table);

  // True if cells are narrow enough for its kernels, and distances accurate enough.
  bool serves(const Program& program) const;
  SingleFamily subset(IdSpan ids) const;
  void weigh(const Program& program, const double* weights);

  const SingleTable& table() const { return *table_; }
  const SingleGrid& grid() const { return grid_; }
  const float* values() const { return values_.data(); }
  std::vector<int64_t> kernels() const { return functions_.kernels(); }
  int64_t padded_kernels() const;  // number of kernels, rounded up to a multiple of kKernelsAtOnce
  // Tabulates the result of `moment_weights`.
  void prepare(const Program& program) {
    moment_weights_ = std::make_shared<std::vector<double>>(tabulated_moments(program));
  }
  // The matrix grid().moments() x padded_kernels() that maps moments to sums of kernels.
  const double* moment_weights() const { return moment_weights_->data(); }

 private:
  int64_t cells(int tail) const;  // number of cells up to the limit
  template <int kTerms>
  void fill(const Program& program, const double* weights, int tail,
            const CellBasis<kTerms>& basis);
  std::vector<double> tabulated_moments(const Program& program) const;

  Functions functions_;
  std::shared_ptr<const SingleTable> table_;
  SingleGrid grid_;
  Buffer<float> values_;
  std::shared_ptr<const std::vector<double>> moment_weights_;  // shared with subsets
};

class SinglePasses {
 public:
  // Null if the kernels are of another kind, or need higher accuracy.
  static std::unique_ptr<SinglePasses> of(const Program& program, const Side& side);

  std::unique_ptr<SinglePasses> subset(IdSpan ids) const;
  void weigh(const Program& program, const double* weights);
  // out[i] += sum_r delta[r] sum_m weights[m] k_m(x_ids[r], x_i).
  void add(IdSpan ids, std::span<const double> delta, int threads, double* out) const;
  // The same for some examples only: out[j] is the output of example columns[j].
  void add_at(IdSpan ids, std::span<const double> delta, IdSpan columns, int threads,
              double* out) const;
  // out (count x count), symmetric: the weighted sum of kernels between the examples of a working
  // set.
  void block(IdSpan ids, int threads, double* out) const;
  // out (kernels x columns): sum_r alpha[r] k_m(x_ids[r], x_columns[j]).
  void outputs(IdSpan ids, std::span<const double> alpha, IdSpan columns, int threads,
               double* out) const;

 private:
  // Adds the contribution of one family to the outputs of `others`. places: position among them of
  // each of `ids`, or -1.
  void add(const SingleFamily& family, const SingleTable& others, IdSpan ids, IdSpan places,
           std::span<const double> delta, int threads, double* out) const;

  std::vector<SingleFamily> families_;
};

}  // namespace kw

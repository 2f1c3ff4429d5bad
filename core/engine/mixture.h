// The engine for families. All kernels are functions of shared quantities, so that their weighted
// sum is one function of each quantity and is evaluated as such (profile.h). The engine keeps the
// combined outputs under the present weights. New weights need one pass over the support vectors,
// whose cost hardly depends on the number of kernels. It owns the examples, a cache of rows of the
// shared quantities, n outputs, and the piecewise polynomials.
#pragma once
#include <memory>
#include <vector>

#include "engine/profile.h"
#include "engine/shared_rows.h"
#include "engine/single_passes.h"

namespace kw {

class Mixture {
 public:
  explicit Mixture(std::unique_ptr<SharedRows> rows);
  // A subset of another engine, whose profiles and single-precision passes it takes over.
  Mixture(std::unique_ptr<SharedRows> rows, std::vector<Profile> profiles,
          std::unique_ptr<SinglePasses> single);

  // True if every kernel of the program is a function of one shared quantity.
  static bool serves(const Program& program);

  int64_t n() const { return side().n; }
  int64_t n_kernels() const { return program().n_kernels(); }
  const Program& program() const { return rows_->program(); }
  const Side& side() const { return rows_->side(); }
  int threads() const { return rows_->threads(); }
  int64_t cached_rows() const { return rows_->cached(); }
  double* combined() { return combined_.data(); }

  // Sets the weights; the combined outputs are reset to those of alpha = 0.
  void weigh(const double* weights);
  // combined[i] += sum_r delta[r] sum_m weights[m] k_m(x_ids[r], x_i). If `keeps`, new rows are
  // cached.
  void add(IdSpan ids, std::span<const double> delta, bool keeps = true);
  // out (count x count): the combined kernel between the examples of a working set.
  void block(IdSpan ids, double* out);
  // out[m] = sum_rs alpha[r] alpha[s] k_m(x_ids[r], x_ids[s]). `quadratic_of_rows` adds
  // the contribution of the pairs (r, s) and (s, r) with r < rows and s >= r.
  void quadratic(IdSpan ids, std::span<const double> alpha, double* out);
  void quadratic_of_rows(IdSpan ids, int64_t rows, std::span<const double> alpha,
                         double* out) const;
  // The same; also recomputes the combined outputs of alpha. Each pair of ids is evaluated once for
  // both results and both of its examples. No rows are cached.
  void combine(IdSpan ids, std::span<const double> alpha, double* out);
  // out (kernels x n): sum_r alpha[r] k_m(x_ids[r], x_j) for the chosen kernels m.
  void outputs(IdSpan ids, std::span<const double> alpha, IdSpan kernels, double* out) const;
  // Writes for each plane p a matrix out[p] (columns x nodes). In the row of column j every alpha_i
  // is divided among the interpolation nodes next to the shared quantity of i and j. The product of
  // this matrix with the values of a kernel at the nodes is its output, within about 1e-6.
  void spread(std::span<const double> alpha, IdSpan columns, const std::vector<double*>& out);
  const std::vector<Profile>& profiles() const { return profiles_; }
  // `add`, `block` and `outputs` in single precision (single_passes.h). outputs_single: outputs of
  // all kernels for some examples, out (kernels x columns). add_single_at: changes the outputs of
  // the examples `columns` only.
  bool has_single_passes() const { return bool(single_); }
  void add_single(IdSpan ids, std::span<const double> delta);
  void block_single(IdSpan ids, double* out) const;
  void add_single_at(IdSpan ids, std::span<const double> delta, IdSpan columns);
  void outputs_single(IdSpan ids, std::span<const double> alpha, IdSpan columns, double* out) const;
  std::unique_ptr<Mixture> subset(IdSpan ids);

 private:
  // Moments of the pairs: for each part and each plane, the sums for every cell.
  using Moments = std::vector<std::vector<Buffer<double>>>;
  Moments no_moments(int64_t count) const;
  void collect(const RowView& view, int64_t r, std::span<const double> alpha,
               std::vector<Buffer<double>>& sums) const;
  void integrate(Moments& moments, double* out) const;
  // The combined kernel of a row. `add_row` adds its multiple to the sums of the columns of a view;
  // the other one writes the value of every column.
  void add_row(const RowView& view, double factor, double* sums) const;
  void evaluate_row(const RowView& view, double* values) const;

  std::unique_ptr<SharedRows> rows_;
  std::vector<Profile> profiles_;         // one for each plane
  std::unique_ptr<SinglePasses> single_;  // null if single precision is not accurate enough
  std::vector<double> combined_;
};

}  // namespace kw

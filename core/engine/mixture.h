// An engine for families: all kernels are functions of shared quantities, so that their weighted
// sum is evaluated as one function (profile.h). It keeps the combined outputs of one set of
// weights; new weights cost one pass over the support examples, and the number of kernels hardly
// matters.
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
  // One for some of the examples of another, whose profiles and single passes it is given.
  Mixture(std::unique_ptr<SharedRows> rows, std::vector<Profile> profiles,
          std::unique_ptr<SinglePasses> single);

  // True if a program consists of such kernels only.
  static bool serves(const Program& program);

  int64_t n() const { return rows_->side().n; }
  int64_t n_kernels() const { return rows_->program().n_kernels(); }
  int64_t cached_rows() const { return rows_->cached(); }
  double* combined() { return combined_.data(); }

  // Sets the weights; the combined outputs are those of alpha = 0 then.
  void weigh(const double* weights);
  // combined[i] += sum_r delta[r] sum_m weights[m] k_m(x_ids[r], x_i). Rows are cached if it
  // `keeps` them.
  void add(IdSpan ids, std::span<const double> delta, bool keeps = true);
  // out (count x count): the combined kernel inside a working set.
  void block(IdSpan ids, double* out);
  // out[m] = sum_rs alpha[r] alpha[s] k_m(x_ids[r], x_ids[s]); or what the first rows add to it,
  // each with itself and all after it.
  void quadratic(IdSpan ids, std::span<const double> alpha, double* out);
  void quadratic_of_rows(IdSpan ids, int64_t rows, std::span<const double> alpha,
                         double* out) const;
  // The same, and the combined outputs of alpha from scratch: pairs of ids are evaluated once for
  // both, and for both of their examples. No rows are cached.
  void combine(IdSpan ids, std::span<const double> alpha, double* out);
  // out (kernels x n): sum_r alpha[r] k_m(x_ids[r], x_j) for the chosen kernels m.
  void outputs(IdSpan ids, std::span<const double> alpha, IdSpan kernels, double* out) const;
  // For each plane p, out[p] (columns x nodes): alpha, shape (n,), spread over the nodes next to
  // the values of the pairs with a column. Its product with the values of a kernel at the nodes is
  // the output of that kernel, within about 1e-6.
  void spread(std::span<const double> alpha, IdSpan columns, const std::vector<double*>& out);
  const std::vector<Profile>& profiles() const { return profiles_; }
  const Program& program() const { return rows_->program(); }
  // The same as `add`, `block` and `outputs` in single precision (single_passes.h): outputs of all
  // kernels for some examples, out (kernels x columns); `add_single_at` leaves other examples
  // alone.
  bool has_single_passes() const { return bool(single_); }
  void add_single(IdSpan ids, std::span<const double> delta);
  void block_single(IdSpan ids, double* out) const;
  void add_single_at(IdSpan ids, std::span<const double> delta, IdSpan columns);
  void outputs_single(IdSpan ids, std::span<const double> alpha, IdSpan columns, double* out) const;
  void diagonal(double* out) const;
  void blocks(IdSpan ids, double* out) const;
  std::unique_ptr<Mixture> subset(IdSpan ids);

 private:
  // Sums of pairs, collected in parts and in the cells of each plane.
  using Moments = std::vector<std::vector<Buffer<double>>>;
  Moments no_moments(int64_t count) const;
  void collect(const RowView& view, int64_t r, std::span<const double> alpha,
               std::vector<Buffer<double>>& sums) const;
  void integrate(Moments& moments, double* out) const;
  // The combined kernel of a row: sums of the columns of a view grow by a factor times it, or
  // values[j] is that of a column of the view.
  void add_row(const RowView& view, double factor, double* sums) const;
  void evaluate_row(const RowView& view, double* values) const;

  std::unique_ptr<SharedRows> rows_;
  std::vector<Profile> profiles_;         // one for each plane
  std::unique_ptr<SinglePasses> single_;  // null where they do not serve
  std::vector<double> combined_;
};

}  // namespace kw

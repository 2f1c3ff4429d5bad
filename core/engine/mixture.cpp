#include "engine/mixture.h"

namespace kw {
namespace {

// Number of parts of the pairs that have separate sums, so that threads need no lock. It does not
// depend on the number of threads: otherwise the order of summation, and so the rounding, would.
constexpr int64_t kMostParts = 16;

}  // namespace

bool Mixture::serves(const Program& program) {
  for (const Group& group : program.groups())
    if (program.plane_of(group) < 0) return false;
  for (const auto& source : program.sources())
    if (!source->bounded()) return false;
  return true;
}

Mixture::Mixture(std::unique_ptr<SharedRows> rows) : rows_(std::move(rows)), combined_(n(), 0.0) {
  int64_t plane = 0;
  for (size_t s = 0; s < program().sources().size(); ++s) {
    const Quantity& quantity = *program().sources()[s];
    for (int64_t p = 0; p < quantity.planes(); ++p)
      profiles_.emplace_back(program(), plane++, quantity.bound(*side().tables[s]),
                             quantity.both_signs());
  }
  single_ = SinglePasses::of(program(), side());
}

Mixture::Mixture(std::unique_ptr<SharedRows> rows, std::vector<Profile> profiles,
                 std::unique_ptr<SinglePasses> single)
    : rows_(std::move(rows)),
      profiles_(std::move(profiles)),
      single_(std::move(single)),
      combined_(n(), 0.0) {}

void Mixture::weigh(const double* weights) {
  for (Profile& profile : profiles_) profile.weigh(program(), weights);
  if (single_) single_->weigh(program(), weights);
  std::fill(combined_.begin(), combined_.end(), 0.0);
}

void Mixture::add(IdSpan ids, std::span<const double> delta, bool keeps) {
  rows_->each_row(
      ids,
      [&](int64_t r, const RowView& view, double*, int64_t) {
        add_row(view, delta[r], combined_.data());
      },
      Visits{.keeps = keeps});
}

void Mixture::add_row(const RowView& view, double factor, double* sums) const {
  for (size_t p = 0; p < profiles_.size(); ++p)
    simd().cells->add(view.planes[p], profiles_[p].grid(), profiles_[p].coefficients(), factor,
                      sums + view.j0, view.n);
}

void Mixture::block(IdSpan ids, double* out) {
  rows_->block(ids, out,
               [&](const RowView& view, double*, double* values) { evaluate_row(view, values); });
}

void Mixture::evaluate_row(const RowView& view, double* values) const {
  for (size_t p = 0; p < profiles_.size(); ++p) {
    const auto loop = p == 0 ? simd().cells->set : simd().cells->add;
    loop(view.planes[p], profiles_[p].grid(), profiles_[p].coefficients(), 1.0, values, view.n);
  }
}

Mixture::Moments Mixture::no_moments(int64_t count) const {
  Moments moments(std::clamp<int64_t>(count / kTileColumns, 1, kMostParts));
  for (auto& part : moments)
    for (const Profile& profile : profiles_)
      part.emplace_back(profile.grid().cells() * kTerms, 0.0);
  return moments;
}

// Adds the pairs of row r with the columns of a view, which begin at column r or later.
void Mixture::collect(const RowView& view, int64_t r, std::span<const double> alpha,
                      std::vector<Buffer<double>>& sums) const {
  for (size_t p = 0; p < profiles_.size(); ++p) {
    const Grid& grid = profiles_[p].grid();
    // a pair off the diagonal counts twice
    const int64_t once = view.j0 == r ? 1 : 0;
    const double* others = alpha.data() + view.j0;
    simd().cells->moments(view.planes[p], grid, alpha[r], others, sums[p].data(), once);
    simd().cells->moments(view.planes[p] + once, grid, 2.0 * alpha[r], others + once,
                          sums[p].data(), view.n - once);
  }
}

void Mixture::integrate(Moments& moments, double* out) const {
  std::fill_n(out, n_kernels(), 0.0);
  for (size_t p = 0; p < profiles_.size(); ++p) {
    Buffer<double>& total = moments[0][p];
    for (size_t part = 1; part < moments.size(); ++part)
      simd().add(moments[part][p].data(), total.data(), int64_t(total.size()));
    profiles_[p].integrate(program(), total.data(), out);
  }
}

void Mixture::quadratic(IdSpan ids, std::span<const double> alpha, double* out) {
  const int64_t count = int64_t(ids.size());
  Moments moments = no_moments(count);
  const std::vector<int64_t> order = rows_->cached_first(ids);
  const std::vector<int64_t> examples = gather(ids.data(), order);
  const std::vector<double> factors = gather(alpha.data(), order);
  rows_->each_upper_row(
      examples,
      [&](int64_t r, const RowView& view, double*, int64_t part) {
        collect(view, r, factors, moments[part]);
      },
      int64_t(moments.size()));
  integrate(moments, out);
}

void Mixture::quadratic_of_rows(IdSpan ids, int64_t rows, std::span<const double> alpha,
                                double* out) const {
  const int64_t count = int64_t(ids.size());
  Moments moments = no_moments(count);
  const Side work = side().subset(ids);
  const std::vector<int64_t> first = all_ids(rows);
  sweep(
      {program(), work, first, work, threads()},
      [&](int64_t r, const RowView& view, double*, int64_t part) {
        collect(view, r, alpha, moments[part]);
      },
      Pairs{.upper = true, .parts = int64_t(moments.size())});
  integrate(moments, out);
}

void Mixture::combine(IdSpan ids, std::span<const double> alpha, double* out) {
  const int64_t count = int64_t(ids.size());
  const Side work = side().subset(ids);
  const std::vector<int64_t> every = all_ids(count);
  std::vector<int64_t> others;
  Moments moments = no_moments(count);
  // A column belongs to one part only. Contributions of later columns to the rows are summed
  // separately.
  std::vector<double> columns(count, 0.0);
  std::vector<Buffer<double>> rows(moments.size(), Buffer<double>(count, 0.0));
  sweep(
      {program(), work, every, work, threads()},
      [&](int64_t r, const RowView& view, double*, int64_t part) {
        alignas(64) double values[kTileColumns];
        collect(view, r, alpha, moments[part]);
        evaluate_row(view, values);
        const int64_t once = view.j0 == r ? 1 : 0;
        simd().axpy(alpha[r], values, columns.data() + view.j0, view.n);
        rows[part][r] += simd().dot(values + once, alpha.data() + view.j0 + once, view.n - once);
      },
      Pairs{.upper = true, .parts = int64_t(moments.size())});
  integrate(moments, out);
  for (const auto& part : rows) simd().add(part.data(), columns.data(), count);

  std::vector<char> given(n(), 0);
  for (int64_t k = 0; k < count; ++k) given[ids[k]] = 1;
  for (int64_t i = 0; i < n(); ++i)
    if (!given[i]) others.push_back(i);
  std::vector<double> sums(others.size(), 0.0);
  const Side rest = side().subset(others);
  sweep({program(), side(), ids, rest, threads()},
        [&](int64_t r, const RowView& view, double*, int64_t) {
          add_row(view, alpha[r], sums.data());
        });
  for (int64_t k = 0; k < count; ++k) combined_[ids[k]] = columns[k];
  for (size_t j = 0; j < others.size(); ++j) combined_[others[j]] = sums[j];
}

void Mixture::outputs(IdSpan ids, std::span<const double> alpha, IdSpan kernels,
                      double* out) const {
  const int64_t n_chosen = int64_t(kernels.size());
  std::vector<double*> target(program().n_kernels(), nullptr);
  std::vector<double> wanted(program().n_kernels(), 0.0);
  for (int64_t k = 0; k < n_chosen; ++k) {
    target[kernels[k]] = out + k * n();
    wanted[kernels[k]] = 1.0;
  }
  const std::vector<Group> groups = program().groups_with(wanted.data());
  std::fill_n(out, n_chosen * n(), 0.0);
  sweep({program(), side(), ids, side(), threads()},
        [&](int64_t r, const RowView& view, double* stack, int64_t) {
          program().run(groups, view, stack, [&](int64_t m, const double* kernel) {
            if (target[m]) simd().axpy(alpha[r], kernel, target[m] + view.j0, view.n);
          });
        });
}

void Mixture::spread(std::span<const double> alpha, IdSpan columns,
                     const std::vector<double*>& out) {
  const int64_t n_columns = int64_t(columns.size());
  for (size_t p = 0; p < profiles_.size(); ++p)
    std::fill_n(out[p], n_columns * profiles_[p].nodes().count(), 0.0);
  rows_->each_row(
      columns,
      [&](int64_t r, const RowView& view, double*, int64_t) {
        for (size_t p = 0; p < profiles_.size(); ++p) {
          const Nodes& nodes = profiles_[p].nodes();
          simd().cells->spread(view.planes[p], nodes, alpha.data() + view.j0,
                               out[p] + r * nodes.count(), view.n);
        }
      },
      Visits{.by_rows = true});  // one thread sums a row, in a fixed order
}

void Mixture::add_single(IdSpan ids, std::span<const double> delta) {
  single_->add(ids, delta, threads(), combined_.data());
}

void Mixture::block_single(IdSpan ids, double* out) const { single_->block(ids, threads(), out); }

void Mixture::add_single_at(IdSpan ids, std::span<const double> delta, IdSpan columns) {
  const int64_t n_columns = int64_t(columns.size());
  std::vector<double> sums(n_columns, 0.0);
  single_->add_at(ids, delta, columns, threads(), sums.data());
  for (int64_t j = 0; j < n_columns; ++j) combined_[columns[j]] += sums[j];
}

void Mixture::outputs_single(IdSpan ids, std::span<const double> alpha, IdSpan columns,
                             double* out) const {
  single_->outputs(ids, alpha, columns, threads(), out);
}

std::unique_ptr<Mixture> Mixture::subset(IdSpan ids) {
  const int64_t count = int64_t(ids.size());
  // With the bounds and weights of all examples.
  auto smaller = std::make_unique<Mixture>(rows_->subset(ids), profiles_,
                                           single_ ? single_->subset(ids) : nullptr);
  for (int64_t i = 0; i < count; ++i) smaller->combined_[i] = combined_[ids[i]];
  return smaller;
}

}  // namespace kw

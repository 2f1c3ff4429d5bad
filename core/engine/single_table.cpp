#include "engine/single_table.h"

#include <algorithm>

#include "simd/simd.h"

namespace kw {
namespace {

// Largest average number of nonzero values of a row. With more of them, reading cached distances is
// cheaper.
constexpr int64_t kMostValues = 80;
// Limits for sparse vectors: columns, so that a panel stays in the second-level cache, and bytes of
// all panels.
constexpr int64_t kMostColumns = 1024, kMostBytes = int64_t(1) << 30;
// Quantile of the norms that `usual_norm` returns.
constexpr double kUsual = 0.99;

int64_t values_of(const SparseTable& table) { return table.indptr[table.n]; }

}  // namespace

std::shared_ptr<const SingleTable> SingleTable::of(const Table& table) {
  if (const auto* dense = dynamic_cast<const DenseTable*>(&table))
    if (dense->d <= kMostValues) return std::shared_ptr<const SingleTable>(new SingleTable(*dense));
  if (const auto* sparse = dynamic_cast<const SparseTable*>(&table)) {
    const int64_t bytes = sparse->n * sparse->d * int64_t(sizeof(float));
    if (values_of(*sparse) <= kMostValues * sparse->n && sparse->d <= kMostColumns &&
        bytes <= kMostBytes)
      return std::shared_ptr<const SingleTable>(new SingleTable(*sparse));
  }
  return nullptr;
}

SingleTable::SingleTable(int64_t n, int64_t d, bool sparse) : n_(n), d_(d) {
  values_.assign(panels() * kPanel * d_, 0.0f);
  norms_.assign(panels() * kPanel, 0.0f);
  if (sparse) starts_.push_back(0);
}

SingleTable::SingleTable(const DenseTable& table) : SingleTable(table.n, table.d, false) {
  std::vector<double> mean(d_, 0.0);
  for (int64_t i = 0; i < n_; ++i)
    for (int64_t f = 0; f < d_; ++f) mean[f] += table.x[i * d_ + f] / double(n_);
  for (int64_t i = 0; i < n_; ++i) {
    float* values = place(i);
    double norm = 0.0;
    for (int64_t f = 0; f < d_; ++f) {
      const float x = values[f * kPanel] = float(table.x[i * d_ + f] - mean[f]);
      norm += double(x) * double(x);
    }
    norms_[i] = float(norm);
  }
}

SingleTable::SingleTable(const SparseTable& table) : SingleTable(table.n, table.d, true) {
  for (int64_t i = 0; i < n_; ++i) {
    double norm = 0.0;
    for (int64_t e = table.indptr[i]; e < table.indptr[i + 1]; ++e) {
      const float x = float(table.data[e]);
      norm += double(x) * double(x);
      append(x, table.indices[e]);
    }
    end_example(i);
    norms_[i] = float(norm);
  }
}

std::shared_ptr<const SingleTable> SingleTable::subset(IdSpan ids) const {
  const int64_t count = int64_t(ids.size());
  std::shared_ptr<SingleTable> smaller(new SingleTable(count, d_, sparse()));
  for (int64_t i = 0; i < count; ++i) {
    smaller->norms_[i] = norms_[ids[i]];
    if (sparse()) {
      for (int64_t e = starts_[ids[i]]; e < starts_[ids[i] + 1]; ++e)
        smaller->append(listed_[e], columns_[e]);
      smaller->end_example(i);
      continue;
    }
    const float* from = place(ids[i]);
    float* to = smaller->place(i);
    for (int64_t f = 0; f < d_; ++f) to[f * kPanel] = from[f * kPanel];
  }
  return smaller;
}

void SingleTable::end_example(int64_t i) {
  for (int64_t e = starts_.back(); e < int64_t(listed_.size()); ++e)
    place(i)[columns_[e] * kPanel] = listed_[e];
  starts_.push_back(int64_t(listed_.size()));
}

double SingleTable::largest_norm() const {
  return n_ ? double(*std::max_element(norms_.begin(), norms_.begin() + n_)) : 0.0;
}

double SingleTable::usual_norm() const {
  std::vector<float> norms(norms_.begin(), norms_.begin() + n_);
  const auto place = norms.begin() + int64_t(kUsual * double(n_ - 1));
  if (n_) std::nth_element(norms.begin(), place, norms.end());
  return n_ ? double(*place) : 0.0;
}

SingleRows::SingleRows(const SingleTable& table, IdSpan ids) : d_(table.d_) {
  const int64_t count = int64_t(ids.size());
  norms_.reserve(count);
  for (int64_t r = 0; r < count; ++r) norms_.push_back(table.norms_[ids[r]]);
  if (!table.sparse()) {
    values_.resize(count * d_);
    for (int64_t r = 0; r < count; ++r) {
      const float* from = table.place(ids[r]);
      for (int64_t f = 0; f < d_; ++f) values_[r * d_ + f] = -2.0f * from[f * kPanel];
    }
    return;
  }
  starts_.push_back(0);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t e = table.starts_[ids[r]]; e < table.starts_[ids[r] + 1]; ++e) {
      values_.push_back(-2.0f * table.listed_[e]);
      columns_.push_back(table.columns_[e]);
    }
    starts_.push_back(int64_t(values_.size()));
  }
}

void SingleRows::distances(int64_t first, int64_t count, const SingleTable& others, int64_t panel,
                           float* out) const {
  const auto& loops = *simd().single;
  const float* values = others.values_.data() + panel * kPanel * d_;
  const float *norms = others.norms_.data() + panel * kPanel, *own = norms_.data() + first;
  if (starts_.empty())
    loops.distances(values_.data() + first * d_, own, count, values, norms, d_, out);
  else
    loops.sparse_distances(values_.data(), columns_.data(), starts_.data() + first, own, count,
                           values, norms, out);
}

}  // namespace kw

#include "kernels/examples.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "simd/simd.h"

namespace kw {
namespace {

// The finaliser of MurmurHash3, in which every bit of x affects every bit of the result.
uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// Values are added up, so that zeros can be skipped and the order does not matter.
void mix_value(int64_t position, double value, Fingerprint& print) {
  if (value == 0.0) return;
  const uint64_t bits = std::bit_cast<uint64_t>(value), place = uint64_t(position);
  print[0] += scramble(bits ^ scramble(place + 0x9e3779b97f4a7c15ULL));
  print[1] += scramble(bits ^ scramble(place + 0xd1b54a32d192ed03ULL));
}

}  // namespace

void Table::mix(int64_t i, Fingerprint& print) const {
  print[0] += scramble(uint64_t(i) + 1);
  print[1] += scramble(~uint64_t(i));
}

DenseTable::DenseTable(Array<double> x, int64_t n, int64_t d) : VectorTable(n, d), x(std::move(x)) {
  norms.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    const double* row = &this->x[i * d];
    norms[i] = simd().dot(row, row, d);
  }
}

std::shared_ptr<const Table> DenseTable::subset(IdSpan ids) const {
  const int64_t count = int64_t(ids.size());
  std::vector<double> rows(count * d);
  for (int64_t i = 0; i < count; ++i) unpack(ids[i], rows.data() + i * d);
  return std::make_shared<DenseTable>(own(std::move(rows)), count, d);
}

void DenseTable::unpack(int64_t i, double* out) const { std::copy_n(x.data + i * d, d, out); }

void DenseTable::mix(int64_t i, Fingerprint& print) const {
  for (int64_t f = 0; f < d; ++f) mix_value(f, x[i * d + f], print);
}

SparseTable::SparseTable(Array<double> data, Array<int32_t> indices, Array<int64_t> indptr,
                         int64_t n, int64_t d)
    : VectorTable(n, d),
      data(std::move(data)),
      indices(std::move(indices)),
      indptr(std::move(indptr)) {
  norms.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = this->indptr[i], count = this->indptr[i + 1] - begin;
    norms[i] = simd().dot(this->data.data + begin, this->data.data + begin, count);
  }
}

std::shared_ptr<const Table> SparseTable::subset(IdSpan ids) const {
  std::vector<int64_t> starts = {0};
  std::vector<int32_t> columns;
  std::vector<double> values;
  for (int64_t id : ids) {
    const int64_t begin = indptr[id], end = indptr[id + 1];
    columns.insert(columns.end(), indices.data + begin, indices.data + end);
    values.insert(values.end(), data.data + begin, data.data + end);
    starts.push_back(int64_t(values.size()));
  }
  return std::make_shared<SparseTable>(own(std::move(values)), own(std::move(columns)),
                                       own(std::move(starts)), int64_t(ids.size()), d);
}

void SparseTable::unpack(int64_t i, double* out) const {
  std::fill_n(out, d, 0.0);
  for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) out[indices[e]] = data[e];
}

void SparseTable::mix(int64_t i, Fingerprint& print) const {
  for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) mix_value(indices[e], data[e], print);
}

GivenTable::GivenTable(Array<double> matrix, int64_t n, int64_t columns, std::vector<int64_t> rows,
                       std::vector<int64_t> ids)
    : matrix(std::move(matrix)),
      n(n),
      columns(columns),
      rows(std::move(rows)),
      ids(std::move(ids)) {}

std::shared_ptr<const Table> GivenTable::subset(IdSpan chosen) const {
  const auto some = [&](const std::vector<int64_t>& values) {
    return values.empty() ? values : gather(values.data(), chosen);
  };
  return std::make_shared<GivenTable>(matrix, int64_t(chosen.size()), columns, some(rows),
                                      some(ids));
}

Fingerprint Side::fingerprint(int64_t i) const {
  Fingerprint print = {};
  for (const auto& table : tables) {
    // Makes the result depend on the order of the tables.
    print = {scramble(print[0]), scramble(print[1])};
    table->mix(i, print);
  }
  return print;
}

Side Side::subset(IdSpan ids) const {
  Side chosen;
  chosen.n = int64_t(ids.size());
  for (const auto& table : tables) chosen.tables.push_back(table->subset(ids));
  for (const auto& vector : vectors) chosen.vectors.push_back(own(gather(vector.data, ids)));
  return chosen;
}

}  // namespace kw

#include "strings/hamming_product.h"

#include <algorithm>

#include "simd/simd.h"
#include "system/team.h"

namespace kw {
namespace {

// Number of words from which on they are divided into parts with a table each.
constexpr int64_t kManyWords = int64_t{1} << 23;
constexpr int64_t kProductParts = 2;  // independent of the number of threads
constexpr int64_t kSequences = 1024;  // sequences that a thread looks up at a time
constexpr size_t kTables = 4;         // tables of single members cached at a time
// Words are cached in the order of the table if there are at most so many for each of its entries,
// or at most `kFewWords` in all.
constexpr int64_t kWordsPerPlace = 2;
constexpr int64_t kFewWords = int64_t{1} << 21;

int64_t letters_of(const SequenceView& view) {
  int64_t total = 0;
  for (int64_t i = 0; i < view.n; ++i) total += view.length_of(i);
  return total;
}

int64_t parts_of(const SequenceView& view) {
  return letters_of(view) < kManyWords ? 1 : kProductParts;
}

bool keeps_rows(const HammingRule& rule, const SequenceView& view) {
  const int64_t words = letters_of(view) * (rule.both_strands ? 2 : 1);
  return words <= std::max(kWordsPerPlace * int64_t(rule.kmers.space()), kFewWords);
}

}  // namespace

HammingProduct::HammingProduct(const HammingParameters& parameters, const SequenceTable& table,
                               bool keeps)
    : parameters_(parameters),
      owner_(table.owner),
      view_(table.view),
      operator_(int64_t(parameters.rule.kmers.letters), parameters.length()),
      letters_(letters_of(table.view)) {
  if (keeps && keeps_rows(parameters.rule, view_))
    rows_ = std::make_unique<WordRows>(view_, parameters.rule, operator_.rows(), operator_.width());
  weigh(std::vector<double>(size_t(parameters.members()), 1.0).data(), 1);
}

void HammingProduct::weigh(const double* planes, int) {
  const int64_t size = parameters_.length() + 1;
  spectrum_.assign(size, 0.0);
  for (int64_t at = 0; at < int64_t(parameters_.spectra.size()); ++at)
    spectrum_[at % size] += planes[at / size] * parameters_.spectra[at];
}

int64_t HammingProduct::bytes(const HammingParameters& parameters, const SequenceView& view) {
  const HammingRule& rule = parameters.rule;
  const int64_t rows = keeps_rows(rule, view) ? WordRows::bytes(rule, letters_of(view)) : 0;
  return parts_of(view) * int64_t(rule.kmers.space() * sizeof(double)) + rows;
}

void HammingProduct::multiply(std::span<const double> spectra, const double* v, int threads,
                              double* out) const {
  const int64_t n = view_.n, count = int64_t(spectra.size()) / (parameters_.length() + 1);
  std::vector<Buffer<double>> tables(static_cast<size_t>(count));
  std::vector<double*> places;
  for (Buffer<double>& table : tables) {
    table.resize(size_t(operator_.size()));
    places.push_back(table.data());
  }
  Buffer<double> sums(size_t(count * WordOperator::kParts * n), 0.0);
  auto of = [&](int64_t p, int64_t part) {
    return sums.data() + (p * WordOperator::kParts + part) * n;
  };
  operator_.apply_each(
      spectra.data(), threads, places.back(), places,
      [&](int64_t row, double* numbers) { rows_->fill(row, v, numbers); },
      [&](int64_t p, int64_t part, int64_t row, const double* numbers) {
        rows_->read(row, numbers, of(p, part));
      });
  for (int64_t p = 0; p < count; ++p)
    for (int64_t part = 0; part < WordOperator::kParts; ++part)
      simd().axpy(1.0, of(p, part), out + p * n, n);
}

Buffer<double> HammingProduct::words(const double* v, int threads) const {
  const int64_t parts = parts_of(view_), n = view_.n;
  // Two writes for each word, or one pass over the table.
  const bool strands = parameters_.rule.both_strands, few = 4 * letters_ < operator_.size();
  std::vector<Buffer<double>> tables(parts);
  run_team(threads, parts, [&](int64_t part, int) {
    tables[part].assign(size_t(operator_.size()), 0.0);
    add_words(view_, parameters_.rule, {}, v, n * part / parts, n * (part + 1) / parts,
              strands && few, tables[part].data());
  });
  for (int64_t part = 1; part < parts; ++part)
    simd().axpy(1.0, tables[part].data(), tables[0].data(), operator_.size());
  if (strands && !few) add_partners(parameters_.rule.kmers, threads, tables[0].data());
  return std::move(tables[0]);
}

void HammingProduct::add(const double* v, int threads, double* out) const {
  if (rows_) return multiply(spectrum_, v, threads, out);
  Buffer<double> table = words(v, threads);
  operator_.apply(spectrum_.data(), threads, table.data());
  run_team(threads, (view_.n + kSequences - 1) / kSequences, [&](int64_t part, int) {
    for (int64_t i = part * kSequences; i < std::min(view_.n, (part + 1) * kSequences); ++i)
      out[i] += sum_words(view_, parameters_.rule, i, table.data());
    check_interrupt();
  });
}

// v'K v = t'A t, where t contains the words of one strand. With both strands t contains the words
// of both, and the result is half of it.
void HammingProduct::quadratic(const double* v, int threads, double* out) const {
  const int64_t size = parameters_.length() + 1;
  std::vector<double> squared_norms(size);
  if (rows_) {
    Buffer<double> table(static_cast<size_t>(operator_.size()));
    operator_.squared_norms(threads, table.data(), squared_norms.data(),
                            [&](int64_t row, double* numbers) { rows_->fill(row, v, numbers); });
  } else {
    operator_.squared_norms(threads, words(v, threads).data(), squared_norms.data());
  }
  const double share = parameters_.rule.both_strands ? 0.5 : 1.0;
  for (int64_t p = 0; p < parameters_.members(); ++p)
    for (int64_t w = 0; w < size; ++w)
      out[p] += share * squared_norms[w] * parameters_.spectra[p * size + w];
}

std::vector<double> HammingProduct::spectra(const std::vector<int64_t>& members) const {
  const int64_t size = parameters_.length() + 1;
  std::vector<double> found;
  for (int64_t p : members)
    found.insert(found.end(), parameters_.spectra.begin() + p * size,
                 parameters_.spectra.begin() + (p + 1) * size);
  return found;
}

void HammingProduct::outputs_by_rows(const double* v, IdSpan ids,
                                     const std::vector<int64_t>& members, int threads,
                                     double* out) const {
  const int64_t count = int64_t(ids.size());
  std::vector<double> sums(members.size() * size_t(view_.n), 0.0);
  multiply(spectra(members), v, threads, sums.data());
  for (size_t p = 0; p < members.size(); ++p)
    for (int64_t r = 0; r < count; ++r)
      out[members[p] * count + r] += sums[p * size_t(view_.n) + size_t(ids[r])];
}

void HammingProduct::outputs_by_words(Buffer<double> all, IdSpan ids,
                                      const std::vector<int64_t>& members, int threads,
                                      double* out) const {
  const int64_t count = int64_t(ids.size());
  std::vector<Buffer<double>> tables(members.size() - 1);
  std::vector<double*> places;
  for (Buffer<double>& table : tables) {
    table.resize(all.size());
    places.push_back(table.data());
  }
  places.push_back(all.data());
  operator_.apply_each(spectra(members).data(), threads, all.data(), places);
  run_team(threads, int64_t(members.size()), [&](int64_t p, int) {
    for (int64_t r = 0; r < count; ++r)
      out[members[p] * count + r] += sum_words(view_, parameters_.rule, ids[r], places[p]);
  });
}

void HammingProduct::outputs(const double* v, IdSpan ids, const std::vector<bool>& wanted,
                             int threads, double* out) const {
  std::vector<int64_t> members;
  for (int64_t p = 0; p < parameters_.members(); ++p)
    if (wanted[p]) members.push_back(p);
  Buffer<double> all;
  if (!rows_) all = words(v, threads);
  for (size_t first = 0; first < members.size(); first += kTables) {
    const size_t last = std::min(members.size(), first + kTables);
    const std::vector<int64_t> some(members.begin() + first, members.begin() + last);
    if (rows_)
      outputs_by_rows(v, ids, some, threads, out);
    else
      outputs_by_words(last < members.size() ? all : std::move(all), ids, some, threads, out);
  }
}

}  // namespace kw

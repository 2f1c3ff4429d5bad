#include "stores/hamming_store.h"

#include <algorithm>
#include <stdexcept>

#include "simd/simd.h"
#include "strings/sequence_table.h"
#include "strings/window_runs.h"
#include "system/team.h"

namespace kw {
namespace {

// The weight of each word of a sequence by its position, if words have such weights.
const std::vector<double>& weights_of_words(const HammingRule& rule, int64_t count) {
  thread_local HammingRule last;
  thread_local std::vector<double> weights;
  if (int64_t(weights.size()) != count || !(last == rule)) {
    last = rule;
    weights.resize(size_t(count));
    for (int64_t p = 0; p < count; ++p) weights[p] = rule.weight(p, count);
  }
  return weights;
}

// Calls f(word, weight) for the words of a sequence.
template <std::invocable<uint64_t, double> Visit>
void each_word(const SequenceView& view, const HammingRule& rule, int64_t i, Visit&& visit) {
  thread_local std::vector<uint64_t> kmers;
  kmers_of(view, i, rule.kmers, kmers);
  if (rule.peak <= 0.0) {
    for (uint64_t kmer : kmers) visit(kmer, 1.0);
    return;
  }
  const int64_t count = std::max<int64_t>(0, view.length_of(i) - rule.kmers.k + 1);
  const std::vector<double>& weights = weights_of_words(rule, count);
  if (int64_t(kmers.size()) == count) {
    for (int64_t p = 0; p < count; ++p) visit(kmers[p], weights[p]);
    return;
  }
  const std::vector<uint8_t> codes = view.codes(i);
  size_t at = 0;
  for (int64_t p = 0; p < count; ++p)
    if (std::find(codes.begin() + p, codes.begin() + p + rule.kmers.k, kUnknown) ==
        codes.begin() + p + rule.kmers.k)
      visit(kmers[at++], weights[p]);
}

// The sums of the windows of one text. The terms of each window are added in the order of its
// words, so that the result is bit-identical to that of a single window.
void sum_windows(const SequenceView& view, const HammingRule& rule, int64_t i, int64_t windows,
                 const double* table, double* out) {
  constexpr int64_t kSideBySide = 16;
  thread_local std::vector<uint64_t> kmers;
  thread_local std::vector<double> found;
  kmers_of(text_of_windows(view, i, windows), rule.kmers, kmers);
  found.assign(kmers.size() + kSideBySide, 0.0);
  for (size_t p = 0; p < kmers.size(); ++p) found[p] = table[kmers[p]];
  const int64_t count = std::max<int64_t>(0, view.length_of(i) - rule.kmers.k + 1);
  const std::vector<double>& weights = weights_of_words(rule, count);
  for (int64_t w = 0; w < windows; w += kSideBySide) {
    double totals[kSideBySide] = {};
    for (int64_t p = 0; p < count; ++p)
      for (int64_t s = 0; s < kSideBySide; ++s) totals[s] += weights[p] * found[w + p + s];
    for (int64_t s = 0; s < std::min(kSideBySide, windows - w); ++s) out[w + s] += totals[s];
  }
}

}  // namespace

void visit_words(const SequenceView& view, const HammingRule& rule, int64_t i,
                 const std::function<void(uint64_t, double)>& visit) {
  each_word(view, rule, i, visit);
}

void add_words(const SequenceView& view, const HammingRule& rule, IdSpan rows,
               const double* factors, int64_t begin, int64_t end, bool partners, double* table) {
  for (int64_t r = begin; r < end; ++r) {
    const double factor = factors[r];
    if (factor != 0.0)
      each_word(view, rule, rows.empty() ? r : rows[r], [&](uint64_t kmer, double weight) {
        table[kmer] += factor * weight;
        if (partners) table[rule.kmers.reverse_complement(kmer, rule.kmers.k)] += factor * weight;
      });
    if (r % kSequencesBetweenLooks == 0) check_interrupt();
  }
}

double sum_words(const SequenceView& view, const HammingRule& rule, int64_t i,
                 const double* table) {
  double total = 0.0;
  each_word(view, rule, i, [&](uint64_t kmer, double weight) { total += weight * table[kmer]; });
  return total;
}

// A word consists of its first letters, the middle, and its last letters; its reverse complement
// begins with that of the last letters. So all words with the same middle form a tile of the table,
// which is exchanged with the tile of the reversed middle.
void add_partners(const KmerRule& rule, int threads, double* table) {
  const int64_t edge = std::min<int64_t>(rule.k / 2, rule.letters == 4 ? 2 : 1);
  uint64_t sides = 1, middles = 1;
  for (int64_t p = 0; p < edge; ++p) sides *= rule.letters;
  for (int64_t p = 2 * edge; p < rule.k; ++p) middles *= rule.letters;
  std::vector<uint64_t> partner(sides);
  for (uint64_t s = 0; s < sides; ++s) partner[s] = rule.reverse_complement(s, edge);
  auto place = [&](uint64_t first, uint64_t middle, uint64_t last) {
    return (first * middles + middle) * sides + last;
  };
  run_team(threads, int64_t(middles), [&](int64_t task, int) {
    const auto middle = uint64_t(task);
    const uint64_t other = rule.reverse_complement(middle, rule.k - 2 * edge);
    if (other < middle) return;
    for (uint64_t first = 0; first < sides; ++first)
      for (uint64_t last = 0; last < sides; ++last) {
        const uint64_t u = place(first, middle, last);
        const uint64_t v = place(partner[last], other, partner[first]);
        if (other == middle && v < u) continue;
        const double sum = table[u] + table[v];
        table[u] = table[v] = sum;
      }
  });
}

HammingStore::HammingStore(const HammingParameters& parameters)
    : parameters_(parameters),
      operator_(int64_t(parameters.rule.kmers.letters), parameters.length()) {
  if (parameters.rule.kmers.space() > kMostWords)
    throw std::invalid_argument("a table has room for at most 2^28 different words");
  words_.assign(size_t(operator_.size()), 0.0);
}

void HammingStore::clear() {
  std::fill(words_.begin(), words_.end(), 0.0);
  weights_.clear();
}

void HammingStore::add(const Table& a, IdSpan rows, std::span<const double> delta) {
  add_words(sequences_of(a), parameters_.rule, rows, delta.data(), 0, int64_t(rows.size()), false,
            words_.data());
  weights_.clear();
}

void HammingStore::merge(const Store& other) {
  const auto* same = dynamic_cast<const HammingStore*>(&other);
  if (!same || same->parameters_.rule != parameters_.rule ||
      same->parameters_.values != parameters_.values)
    throw std::invalid_argument("the stores belong to different kernels");
  for (size_t u = 0; u < words_.size(); ++u) words_[u] += same->words_[u];
  weights_.clear();
}

void HammingStore::prepare(int threads) {
  if (!weights_.empty()) return;
  Buffer<double> words = words_;
  weights_ = weights_of(words, threads);
}

void HammingStore::close(int threads) {
  weights_ = weights_of(words_, threads);
  words_ = Buffer<double>();
}

// Overwrites `words`.
std::vector<Buffer<double>> HammingStore::weights_of(Buffer<double>& words, int threads) const {
  std::vector<Buffer<double>> weights(size_t(parameters_.members() - 1));
  std::vector<double*> tables;
  for (Buffer<double>& table : weights) table.resize(words.size());
  weights.push_back(std::move(words));  // the last member is computed in place
  for (Buffer<double>& table : weights) tables.push_back(table.data());
  operator_.apply_each(parameters_.spectra.data(), threads, weights.back().data(), tables);
  if (parameters_.rule.both_strands)
    for (double* table : tables) add_partners(parameters_.rule.kmers, threads, table);
  return weights;
}

void HammingStore::lookup(const Table& b, int64_t j0, int64_t j1, double* out,
                          int64_t stride) const {
  const SequenceView& view = sequences_of(b);
  for (size_t p = 0; p < weights_.size(); ++p)
    for (int64_t j = j0, run; j < j1; j += run) {
      double* sums = out + int64_t(p) * stride + j - j0;
      run = run_of_windows(view, j, j1);
      if (run == 1)
        *sums += sum_words(view, parameters_.rule, j, weights_[p].data());
      else
        sum_windows(view, parameters_.rule, j, run, weights_[p].data(), sums);
      if (run > 1 || j % kSequencesBetweenLooks == 0) check_interrupt();
    }
}

void HammingStore::items(const VisitWord& visit) const {
  for (size_t u = 0; u < weights_[0].size(); ++u)
    if (weights_[0][u] != 0.0) visit(-1, parameters_.rule.kmers.codes(u), weights_[0][u]);
}

int64_t HammingStore::bytes() const {
  return int64_t((words_.size() + weights_.size() * size_t(operator_.size())) * sizeof(double));
}

}  // namespace kw

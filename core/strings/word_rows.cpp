#include "strings/word_rows.h"

#include <algorithm>

#include "stores/hamming_store.h"

namespace kw {

WordRows::WordRows(const SequenceView& view, const HammingRule& rule, int64_t rows, int64_t width)
    : width_(width), first_(size_t(2 * rows + 1), 0) {
  // Calls visit(list, column, sequence, weight) for all words; a list belongs to a row and a
  // strand.
  auto each = [&](auto&& visit) {
    for (int64_t i = 0; i < view.n; ++i)
      visit_words(view, rule, i, [&](uint64_t kmer, double weight) {
        visit(kmer / width * 2, kmer % width, i, weight);
        if (!rule.both_strands) return;
        const uint64_t partner = rule.kmers.reverse_complement(kmer, rule.kmers.k);
        visit(partner / width * 2 + 1, partner % width, i, weight);
      });
  };
  each([&](uint64_t list, uint64_t, int64_t, double) { ++first_[list + 1]; });
  for (size_t list = 1; list < first_.size(); ++list) first_[list] += first_[list - 1];
  places_.resize(size_t(first_.back()));
  if (rule.peak > 0.0) weights_.resize(places_.size());
  std::vector<int64_t> next(first_.begin(), first_.end() - 1);
  each([&](uint64_t list, uint64_t column, int64_t i, double weight) {
    const int64_t at = next[list]++;
    places_[at] = {uint32_t(i), uint32_t(column)};
    if (!weights_.empty()) weights_[at] = weight;
  });
}

int64_t WordRows::bytes(const HammingRule& rule, int64_t letters) {
  const size_t word = sizeof(Place) + (rule.peak > 0.0 ? sizeof(double) : 0);
  return letters * (rule.both_strands ? 2 : 1) * int64_t(word);
}

template <std::invocable<const WordRows::Place&, double> Visit>
void WordRows::each(int64_t first, int64_t last, Visit&& visit) const {
  if (weights_.empty())
    for (int64_t at = first; at < last; ++at) visit(places_[at], 1.0);
  else
    for (int64_t at = first; at < last; ++at) visit(places_[at], weights_[at]);
}

void WordRows::fill(int64_t row, const double* v, double* numbers) const {
  std::fill_n(numbers, width_, 0.0);
  each(first_[2 * row], first_[2 * row + 2],
       [&](Place place, double weight) { numbers[place.column] += weight * v[place.sequence]; });
}

void WordRows::read(int64_t row, const double* numbers, double* out) const {
  each(first_[2 * row], first_[2 * row + 1],
       [&](Place place, double weight) { out[place.sequence] += weight * numbers[place.column]; });
}

}  // namespace kw

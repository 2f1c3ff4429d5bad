// Python classes for the weights of single words in sums of string kernels.
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "bindings/packed.h"
#include "bindings/strings.h"
#include "strings/word_tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

std::unique_ptr<WordTables> word_tables(const PackedSequences& packed, Vector delta,
                                        In<double, 3> weights, std::vector<int64_t> shifts,
                                        Vector background, int64_t longest, int64_t begin,
                                        int64_t end, int n_jobs) {
  check_threads(n_jobs);
  const PlaneTable table(packed.view, nullptr);
  const int64_t degree = int64_t(weights.shape(2));
  require(int64_t(delta.shape(0)) == table.n, "WordTables: one number per sequence");
  require(weights.shape(0) == shifts.size() && int64_t(weights.shape(1)) == table.length,
          "WordTables: weights by shift, position and length");
  require(int64_t(background.shape(0)) == packed.view.letters, "WordTables: one chance per letter");
  require(longest >= 1 && longest <= degree && begin >= 0 && begin < end && end <= table.length,
          "WordTables: positions or lengths out of range");
  WdWordRule rule{packed.view.letters,
                  degree,
                  std::move(shifts),
                  {weights.data(), weights.data() + weights.size()},
                  {background.data(), background.data() + background.size()}};
  std::unique_ptr<WordTables> tables;
  without_lock([&] {
    tables = std::make_unique<WordTables>(std::move(rule), table, delta.data(), longest, begin, end,
                                          n_jobs);
  });
  return tables;
}

Out words_at(const WordTables& tables, int64_t k, int64_t p) {
  require(k >= 1 && k <= tables.longest() && p >= tables.begin() && p + k <= tables.end(),
          "WordTables: positions or lengths out of range");
  return computed({size_t(tables.words(k))}, [&](double* out) { tables.weights(k, p, out); });
}

}  // namespace

void bind_words(nb::module_& m) {
  nb::class_<WordTables>(m, "WordTables", "Weights of words in a sum of weighted degree kernels.")
      .def(nb::new_(&word_tables), "packed"_a, "delta"_a, "weights"_a, "shifts"_a, "background"_a,
           "longest"_a, "begin"_a, "end"_a, "n_jobs"_a = 1)
      .def_static("bytes", &WordTables::bytes, "letters"_a, "longest"_a, "positions"_a)
      .def("weights", &words_at, "k"_a, "p"_a, "The weights of all words of k letters at p.");
}

}  // namespace kw

// Python classes of weight stores.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "bindings/strings.h"
#include "stores/hamming_store.h"
#include "stores/suffix_store.h"
#include "stores/wd_store.h"
#include "strings/hamming_kernel.h"
#include "strings/sequence_table.h"
#include "strings/spectrum_kernel.h"
#include "strings/substring_kernel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

constexpr int64_t kPiece = 16384;  // sequences that a thread looks up at a time

struct NamedStore {
  std::shared_ptr<const Quantity> quantity;
  std::unique_ptr<Store> store;
  std::string kind;

  // The sequences of a side, checked to be of the type that the store's kernel reads.
  const Table& sequences(const Side& side) const {
    require(side.tables.size() == 1, "a store reads one column of sequences");
    quantity->check(*side.tables[0], *side.tables[0]);
    return *side.tables[0];
  }
};

// Creates the store of a kernel, for `letters` letters to be added.
NamedStore store_of(const Source& source, int64_t letters) {
  if (const auto* wd = dynamic_cast<const WdKernel*>(source.quantity.get()))
    return {source.quantity, std::make_unique<WdStore>(*wd, nullptr), "trie"};
  if (const auto* hamming = dynamic_cast<const HammingKernel*>(source.quantity.get()))
    return {source.quantity, std::make_unique<HammingStore>(hamming->parameters), "table"};
  if (const auto* substring = dynamic_cast<const SubstringKernel*>(source.quantity.get()))
    return {source.quantity, std::make_unique<SuffixStore>(substring->letters, substring->lengths),
            "suffix"};
  const auto& spectrum = dynamic_cast<const SpectrumKernel&>(*source.quantity);
  const bool open = spectrum.store == StoreKind::kAuto;
  const StoreKind kind = open ? best_store(spectrum.rule, letters) : spectrum.store;
  return {source.quantity, make_store(kind, spectrum.rule, letters), store_name(kind)};
}

void add_sequences(NamedStore& named, const Side& side, Vector delta) {
  require(int64_t(delta.shape(0)) == side.n, "delta has a wrong size");
  interruptible([&] { named.store->add(named.sequences(side), all_ids(side.n), span_of(delta)); });
}

Out lookup(NamedStore& named, const Side& side, int threads) {
  const Table& sequences = named.sequences(side);
  Out values = make_array({size_t(side.n)});
  std::fill_n(values.data(), side.n, 0.0);
  without_lock([&] {
    named.store->prepare(threads);
    run_team(threads, (side.n + kPiece - 1) / kPiece, [&](int64_t piece, int) {
      const int64_t j0 = piece * kPiece, j1 = std::min(side.n, j0 + kPiece);
      named.store->lookup(sequences, j0, j1, values.data() + j0, 0);
    });
  });
  return values;
}

void merge(NamedStore& named, NamedStore& other) {
  interruptible([&] {
    other.store->prepare(1);
    named.store->merge(*other.store);
  });
}

// For kernels that count mismatches: a number for each word u, the weighted sum over the words v of
// the sequences that agree with u at one position of a function of their mismatches at the other
// positions.
Out place_weights(const Source& source, const Side& side, Vector delta, int64_t place,
                  Vector spectrum, int threads) {
  const auto* hamming = dynamic_cast<const HammingKernel*>(source.quantity.get());
  require(hamming != nullptr, "place_weights: a kernel that counts mismatches");
  const HammingParameters& parameters = hamming->parameters;
  require(parameters.rule.kmers.space() <= kMostWords, "place_weights: too many words");
  require(place >= -1 && place < parameters.length(), "place_weights: no such place");
  require(int64_t(spectrum.shape(0)) == parameters.length() + (place < 0), "spectrum: wrong size");
  require(int64_t(delta.shape(0)) == side.n, "delta has a wrong size");
  require(side.tables.size() == 1, "a store reads one column of sequences");
  hamming->check(*side.tables[0], *side.tables[0]);
  Out out = make_array({size_t(parameters.rule.kmers.space())});
  without_lock([&] {
    const SequenceView& view = table_as<SequenceTable>(*side.tables[0]).view;
    std::fill_n(out.data(), out.size(), 0.0);
    add_words(view, parameters.rule, {}, delta.data(), 0, side.n, false, out.data());
    if (parameters.rule.both_strands) add_partners(parameters.rule.kmers, threads, out.data());
    WordOperator(int64_t(parameters.rule.kmers.letters), parameters.length(), place)
        .apply(spectrum.data(), threads, out.data());
  });
  return out;
}

nb::list store_items(NamedStore& named) {
  nb::list found;
  interruptible([&] { named.store->prepare(1); });
  named.store->items([&](int64_t position, const std::string& codes, double weight) {
    found.append(nb::make_tuple(position, nb::bytes(codes.data(), codes.size()), weight));
  });
  return found;
}

}  // namespace

void bind_stores(nb::module_& m) {
  m.def("place_weights", &place_weights, "source"_a, "side"_a, "delta"_a, "place"_a, "spectrum"_a,
        "threads"_a);
  nb::class_<NamedStore>(m, "Store", "Sparse weights of words.")
      .def(
          "__init__",
          [](NamedStore* self, const Source& source, int64_t letters) {
            new (self) NamedStore(store_of(source, letters));
          },
          "source"_a, "letters"_a)
      .def_prop_ro("kind", [](const NamedStore& named) { return named.kind; })
      .def_prop_ro("nbytes", [](const NamedStore& named) { return named.store->bytes(); })
      .def("clear", [](NamedStore& named) { named.store->clear(); })
      .def("add", &add_sequences, "side"_a, "delta"_a)
      .def("lookup", &lookup, "side"_a, "threads"_a)
      .def("merge", &merge, "other"_a)
      .def("items", &store_items);
}

}  // namespace kw

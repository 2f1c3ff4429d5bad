// Python classes of weight stores.

#include <algorithm>

#include "bindings/bindings.h"
#include "bindings/strings.h"
#include "stores/hamming_store.h"
#include "strings/hamming_kernel.h"
#include "strings/sequence_table.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

constexpr int64_t kPiece = 16384;  // sequences that a thread looks up at a time

// A store and the kernel whose words it contains.
struct KernelStore {
  std::shared_ptr<const StoredQuantity> kernel;
  std::unique_ptr<Store> store;

  // The sequences of a side, checked to be of the type that the kernel reads.
  const Table& sequences(const Side& side) const {
    require(side.tables.size() == 1, "a store reads one column of sequences");
    kernel->check(*side.tables[0], *side.tables[0]);
    return *side.tables[0];
  }
};

// Creates the store of a kernel, for sequences of `letters` letters in total.
KernelStore store_of(const Source& source, int64_t letters) {
  const auto kernel = std::dynamic_pointer_cast<const StoredQuantity>(source.quantity);
  require(kernel != nullptr, "this kernel has no weight store");
  return {kernel, kernel->make_store(letters)};
}

void add_sequences(KernelStore& self, const Side& side, Vector delta) {
  require(int64_t(delta.shape(0)) == side.n, "delta has a wrong size");
  interruptible([&] { self.store->add(self.sequences(side), all_ids(side.n), span_of(delta)); });
}

Out lookup(KernelStore& self, const Side& side, int threads) {
  const Table& sequences = self.sequences(side);
  Out values = make_array({size_t(side.n)});
  std::fill_n(values.data(), side.n, 0.0);
  without_lock([&] {
    self.store->prepare(threads);
    run_team(threads, (side.n + kPiece - 1) / kPiece, [&](int64_t piece, int) {
      const int64_t j0 = piece * kPiece, j1 = std::min(side.n, j0 + kPiece);
      self.store->lookup(sequences, j0, j1, values.data() + j0, 0);
    });
  });
  return values;
}

void merge(KernelStore& self, KernelStore& other) {
  interruptible([&] {
    other.store->prepare(1);
    self.store->merge(*other.store);
  });
}

// For kernels that count mismatches: a number for each word u, the weighted sum over the words v of
// the sequences that agree with u at one position of a function of their mismatches at the other
// positions.
Out place_weights(const Source& source, const Side& side, Vector delta, int64_t place,
                  Vector spectrum, int threads) {
  const HammingParameters* found = hamming_parameters(*source.quantity);
  require(found != nullptr, "place_weights: a kernel that counts mismatches");
  const HammingParameters& parameters = *found;
  require(parameters.rule.kmers.space() <= kMostWords, "place_weights: too many words");
  require(place >= -1 && place < parameters.length(), "place_weights: no such place");
  require(int64_t(spectrum.shape(0)) == parameters.length() + (place < 0), "spectrum: wrong size");
  require(int64_t(delta.shape(0)) == side.n, "delta has a wrong size");
  require(side.tables.size() == 1, "a store reads one column of sequences");
  source.quantity->check(*side.tables[0], *side.tables[0]);
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

nb::list store_items(KernelStore& self) {
  nb::list found;
  interruptible([&] { self.store->prepare(1); });
  self.store->items([&](int64_t position, const std::string& codes, double weight) {
    found.append(nb::make_tuple(position, nb::bytes(codes.data(), codes.size()), weight));
  });
  return found;
}

}  // namespace

void bind_stores(nb::module_& m) {
  m.def("place_weights", &place_weights, "source"_a, "side"_a, "delta"_a, "place"_a, "spectrum"_a,
        "threads"_a);
  nb::class_<KernelStore>(m, "Store", "Sparse weights of words.")
      .def(
          "__init__",
          [](KernelStore* self, const Source& source, int64_t letters) {
            new (self) KernelStore(store_of(source, letters));
          },
          "source"_a, "letters"_a)
      .def_prop_ro("kind", [](const KernelStore& self) { return self.store->kind(); })
      .def_prop_ro("nbytes", [](const KernelStore& self) { return self.store->bytes(); })
      .def("clear", [](KernelStore& self) { self.store->clear(); })
      .def("add", &add_sequences, "side"_a, "delta"_a)
      .def("lookup", &lookup, "side"_a, "threads"_a)
      .def("merge", &merge, "other"_a)
      .def("items", &store_items);
}

}  // namespace kw

// Python classes and functions for sequences and string kernels.
#include "bindings/strings.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "bindings/bindings.h"
#include "bindings/lock.h"
#include "bindings/packed.h"
#include "kernels/program.h"
#include "strings/hamming_kernel.h"
#include "strings/locality_kernel.h"
#include "strings/plane_table.h"
#include "strings/sequence_parser.h"
#include "strings/sequence_table.h"
#include "strings/spectrum_kernel.h"
#include "strings/substring_kernel.h"
#include "strings/suffix_index.h"
#include "strings/wd_kernel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace kw {
namespace {

LetterTable letter_table(const nb::bytes& codes) {
  if (codes.size() != 256) throw std::invalid_argument("a table of letters has 256 codes");
  LetterTable table;
  std::copy_n(reinterpret_cast<const uint8_t*>(codes.c_str()), 256, table.begin());
  return table;
}

template <typename T>
nb::object released(Growing<T>& values) {
  const size_t size = size_t(values.size());
  T* data = values.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

// The arrays of a Python `Sequences` object.
nb::dict packed(SequenceBuilder& builder) {
  nb::dict parts;
  const bool ragged = builder.ragged(), masked = builder.unknown.size() > 0;
  parts["n"] = builder.size();
  parts["length"] = ragged ? nb::none() : nb::cast(builder.length());
  parts["data"] = builder.planes() ? released(builder.words) : released(builder.bytes);
  parts["unknown"] = masked ? released(builder.unknown) : nb::none();
  parts["lengths"] = ragged ? released(builder.lengths) : nb::none();
  return parts;
}

std::string_view letters_of(nb::handle item, int64_t position) {
  Py_ssize_t size = 0;
  if (PyUnicode_Check(item.ptr())) {
    const char* text = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
    if (!text && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
      PyErr_Clear();
      throw std::invalid_argument("sequence " + std::to_string(position) +
                                  " holds a surrogate, which is no character");
    }
    if (!text) throw nb::python_error();
    return {text, size_t(size)};
  }
  if (!PyBytes_Check(item.ptr()))
    throw nb::type_error(("sequence " + std::to_string(position) + " is " +
                          nb::cast<std::string>(nb::repr(item)) + ", not a string")
                             .c_str());
  return {PyBytes_AsString(item.ptr()), size_t(PyBytes_Size(item.ptr()))};
}

nb::dict pack_strings(nb::list items, const nb::bytes& codes, bool planes, bool unknown_is_error) {
  SequenceBuilder builder(letter_table(codes), planes);
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string_view letters = letters_of(items[i], int64_t(i));
    const std::string where = "sequence " + std::to_string(i);
    if (letters.empty()) throw std::invalid_argument(where + " is empty");
    const int64_t bad = builder.append(letters, unknown_is_error);
    if (bad >= 0)
      throw std::invalid_argument(where + ", position " + std::to_string(bad) + ": " +
                                  shown_letter(letters[size_t(bad)]) +
                                  " is not a letter of the alphabet");
    builder.finish_record();
  }
  return packed(builder);
}

nb::dict pack_codes(nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> codes,
                    bool planes) {
  SequenceBuilder builder(LetterTable{}, planes);
  for (size_t i = 0; i < codes.shape(0); ++i) {
    builder.append_codes({codes.data() + i * codes.shape(1), codes.shape(1)});
    builder.finish_record();
  }
  return packed(builder);
}

nb::bytes codes_of(const PackedSequences& packed, int64_t i) {
  if (i < 0 || i >= packed.view.n) throw nb::index_error("no such sequence");
  const std::vector<uint8_t> codes = packed.view.codes(i);
  return nb::bytes(codes.data(), codes.size());
}

// Letters [start, stop) of every sequence, reversed if requested, with codes mapped by a table.
nb::dict rewrite(const PackedSequences& held, int64_t start, int64_t stop, bool backwards,
                 const nb::bytes& mapping) {
  SequenceBuilder builder(LetterTable{}, held.view.planes);
  const LetterTable map = letter_table(mapping);
  for (int64_t i = 0; i < held.view.n; ++i) {
    const std::vector<uint8_t> codes = held.view.codes(i);
    const auto end = codes.begin() + std::min<int64_t>(stop, int64_t(codes.size()));
    std::vector<uint8_t> part(codes.begin() + std::min<int64_t>(start, end - codes.begin()), end);
    if (backwards) std::reverse(part.begin(), part.end());
    for (uint8_t& code : part) code = map[code];
    builder.append_codes(part);
    builder.finish_record();
  }
  return packed(builder);
}

// Windows of `length` letters of sequence i, one for each start.
nb::dict windows(const PackedSequences& held, int64_t i,
                 nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> starts,
                 int64_t length) {
  const SequenceView& view = held.view;
  if (i < 0 || i >= view.n) throw nb::index_error("no such sequence");
  const int64_t last = view.length_of(i) - length, n = int64_t(starts.size());
  if (length < 1 || std::any_of(
                        starts.data(), starts.data() + n,
                        [&](int64_t start) { return start < 0 || start > last; }))
    throw std::invalid_argument("a window does not lie within its sequence");
  SequenceBuilder builder(LetterTable{}, view.planes);
  const int64_t width = words_for(length);
  uint64_t* planes = view.planes ? builder.words.extend(2 * width * n) : nullptr;
  uint64_t* mask = view.unknown ? builder.unknown.extend(width * n) : nullptr;
  uint8_t* codes = view.planes ? nullptr : builder.bytes.extend(length * n);
  for (int64_t w = 0; w < n; ++w) {
    const int64_t start = starts.data()[w];
    if (view.planes)
      view.cut(i, start, length, planes + 2 * width * w, mask ? mask + width * w : nullptr);
    else
      view.cut(i, start, length, codes + length * w);
  }
  nb::dict parts = packed(builder);
  parts["n"] = n;
  parts["length"] = length;
  return parts;
}

// Returns the complete records parsed so far and their headers, and removes them from the parser.
nb::dict take_records(SequenceParser& parser) {
  nb::dict parts = packed(parser.builder);
  parser.builder.restart();
  parts["names"] = released(parser.names);
  parts["name_ends"] = released(parser.name_ends);
  return parts;
}

KmerRule kmer_rule(int64_t k, uint64_t letters, std::optional<nb::bytes> partner) {
  if (k < 1 || letters < 2 || !kmers_fit(k, letters))
    throw std::invalid_argument("k is out of range");
  const LetterTable partners = partner ? letter_table(*partner) : LetterTable{};
  if (std::any_of(partners.begin(), partners.begin() + std::min<uint64_t>(letters, 256),
                  [&](uint8_t code) { return code >= letters; }))
    throw std::invalid_argument("the partner of a letter is no letter");
  return {k, letters, partner.has_value(), partners};
}

WdValue wd_value(const std::string& split) {
  if (split == "degree") return WdValue::kDegrees;
  if (split == "position") return WdValue::kPositions;
  return split == "both" ? WdValue::kBoth : WdValue::kSum;
}

void bind_sequences(nb::module_& m) {
  nb::class_<SequenceParser>(m, "SequenceParser", "FASTA and FASTQ, fed in pieces.")
      .def(
          "__init__",
          [](SequenceParser* parser, const nb::bytes& codes, bool planes, bool unknown_is_error,
             bool keep_names) {
            new (parser) SequenceParser(letter_table(codes), planes, unknown_is_error, keep_names);
          },
          "codes"_a, "planes"_a, "unknown_is_error"_a, "keep_names"_a)
      .def("feed",
           [](SequenceParser& parser, const nb::bytes& text) {
             const std::string_view view(text.c_str(), text.size());
             WithoutLock unlock;
             parser.feed(view);
           })
      .def_prop_ro("n", [](const SequenceParser& parser) { return parser.builder.size(); })
      .def("take", &take_records)
      .def("finish", [](SequenceParser& parser) {
        parser.finish();
        return take_records(parser);
      });
  m.def("pack_strings", &pack_strings, "items"_a, "codes"_a, "planes"_a, "unknown_is_error"_a);
  m.def("pack_codes", &pack_codes, "codes"_a, "planes"_a);
  nb::class_<PackedSequences>(m, "PackedSequences", "Packed sequences in NumPy arrays.")
      .def(nb::init<int64_t, std::optional<int64_t>, nb::object, int, nb::object, nb::object,
                    nb::object>(),
           "n"_a, "length"_a.none(), "data"_a, "letters"_a, "unknown"_a.none(), "lengths"_a.none(),
           "starts"_a.none())
      .def("codes", &codes_of)
      .def("windows", &windows, "i"_a, "starts"_a, "length"_a)
      .def("rewrite", &rewrite, "start"_a, "stop"_a, "backwards"_a, "mapping"_a);
}

void bind_string_kernels(nb::module_& m) {
  nb::class_<Source>(m, "Source", "A shared quantity with parameters.");
  m.def(
      "weighted_degree",
      [](std::vector<double> weights, std::vector<int64_t> shifts, const std::string& split,
         int64_t length, const std::string& store, const std::vector<double>& positions,
         std::vector<int64_t> groups) {
        WdParameters parameters{
            std::move(weights), std::move(shifts), wd_value(split), store_kind(store), {},
            std::move(groups)};
        for (double weight : positions)
          parameters.places.insert(parameters.places.end(), parameters.weights.size(), weight);
        Source source;
        without_lock([&] {  // work and memory are quadratic in long shifts
          source.quantity = std::make_shared<WdKernel>(std::move(parameters), length);
        });
        return source;
      },
      "weights"_a, "shifts"_a, "split"_a, "length"_a, "store"_a, "positions"_a, "groups"_a,
      "positions: the weight of each position, or none; groups: the member of a family that each "
      "position belongs to, or none.");
  m.def(
      "spectrum",
      [](int64_t k, uint64_t letters, std::optional<nb::bytes> partner, const std::string& store) {
        const KmerRule rule = kmer_rule(k, letters, partner);
        return Source{spectrum_kernel(rule, store_kind(store))};
      },
      "k"_a, "letters"_a, "partner"_a.none(), "store"_a);
  m.def(
      "substring",
      [](int letters, std::vector<double> weights, const std::string& store) {
        const StoreKind kind = store_kind(store);
        if (letters < 2 || letters > kMaxLetters)
          throw std::invalid_argument("substring: letters is out of range");
        if (weights.empty() || int64_t(weights.size()) > kLongestSubstring)
          throw std::invalid_argument("substring: 1 to 65534 weights");
        if (std::any_of(weights.begin(), weights.end(), [](double w) { return !(w >= 0.0); }) ||
            !(weights.back() > 0.0))
          throw std::invalid_argument("substring: weights must be >= 0, the last one positive");
        if (kind != StoreKind::kAuto && kind != StoreKind::kRows && kind != StoreKind::kSuffix)
          throw std::invalid_argument("substring: store must be auto, rows or suffix");
        return Source{substring_kernel(letters, std::move(weights), kind)};
      },
      "letters"_a, "weights"_a, "store"_a, "weights: of substrings of 1, 2, ... letters");
  m.attr("LONGEST_SUBSTRING") = kLongestSubstring;
  m.def(
      "hamming",
      [](int64_t length, uint64_t letters, std::optional<nb::bytes> partner,
         std::vector<double> values, std::vector<double> spectra, double peak, double half_life,
         const std::string& store) {
        const KmerRule found = kmer_rule(length, letters, partner);
        KmerRule kmers = found;
        kmers.folded = false;
        if (values.empty() || values.size() != spectra.size() || values.size() % (length + 1))
          throw std::invalid_argument("hamming: length + 1 values and eigenvalues for each member");
        if (!(half_life > 0.0)) throw std::invalid_argument("hamming: half_life must be positive");
        return Source{hamming_kernel({{kmers, found.folded, peak, half_life},
                                      std::move(values),
                                      std::move(spectra),
                                      store_kind(store)})};
      },
      "length"_a, "letters"_a, "partner"_a.none(), "values"_a, "spectra"_a, "peak"_a, "half_life"_a,
      "store"_a);
  m.def(
      "locality_improved",
      [](int64_t half_window, int64_t degree) {
        return Source{locality_improved(half_window, degree)};
      },
      "half_window"_a, "degree"_a);
  m.def("kmers_fit", &kmers_fit, "k"_a, "letters"_a);
  m.def(
      "add_planes",
      [](Side& side, const PackedSequences& packed) {
        if (packed.view.n != side.n) throw std::invalid_argument("add_planes: wrong size");
        auto owner = std::make_shared<PackedSequences>(packed);
        side.tables.push_back(std::make_shared<PlaneTable>(packed.view, owner));
      },
      "side"_a, "packed"_a);
  m.def(
      "add_sequences",
      [](Side& side, const PackedSequences& packed) {
        if (packed.view.n != side.n) throw std::invalid_argument("add_sequences: wrong size");
        auto owner = std::make_shared<PackedSequences>(packed);
        side.tables.push_back(std::make_shared<SequenceTable>(packed.view, owner));
      },
      "side"_a, "packed"_a);
}

}  // namespace

void bind_strings(nb::module_& m) {
  bind_sequences(m);
  bind_string_kernels(m);
  bind_words(m);
  bind_stores(m);
}

}  // namespace kw

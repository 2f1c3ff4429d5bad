#include "bindings/packed.h"

#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>

namespace nb = nanobind;

namespace kw {
namespace {

template <typename T>
struct Items {
  const T* data = nullptr;
  int64_t size = 0;
};

// The items of a one-dimensional, contiguous array of exactly this type; an empty span for None.
template <typename T>
Items<T> items(const nb::object& array, const char* name) {
  if (array.is_none()) return {};
  nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu> view;
  if (!nb::try_cast(array, view, false))
    throw std::invalid_argument(
        "sequences: " + std::string(name) + " must be a contiguous vector of " +
        (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)));
  return {view.data(), int64_t(view.shape(0))};
}

}  // namespace

PackedSequences::PackedSequences(int64_t n, std::optional<int64_t> length, nb::object data,
                                 int letters, nb::object unknown, nb::object lengths,
                                 nb::object starts)
    : arrays_{data, unknown, lengths, starts} {
  view.n = n;
  view.length = length.value_or(0);
  view.letters = letters;
  view.planes = letters <= 4;
  const bool ragged = !length.has_value();
  if (data.is_none() || ragged == lengths.is_none() || ragged == starts.is_none())
    throw std::invalid_argument("sequences: data, and either length or lengths, must be given");
  const auto words = items<uint64_t>(view.planes ? data : nb::none(), "data");
  const auto bytes = items<uint8_t>(view.planes ? nb::none() : data, "data");
  const auto mask = items<uint64_t>(unknown, "unknown");
  const auto each = items<int64_t>(lengths, "lengths"), from = items<int64_t>(starts, "starts");
  view.words = words.data;
  view.bytes = bytes.data;
  view.unknown = mask.data;
  view.lengths = each.data;
  view.starts = from.data;
  view.check({words.size + bytes.size, mask.size, from.size, each.size});
}

}  // namespace kw

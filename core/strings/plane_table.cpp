#include "strings/plane_table.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace kw {
namespace {

int64_t planes_for(const SequenceView& view) {
  return std::max<int>(2, std::bit_width(static_cast<unsigned>(view.letters - 1)));
}

Array<uint64_t> spread(const SequenceView& view, int64_t planes) {
  const int64_t words = words_for(view.length);
  std::vector<uint64_t> data(static_cast<size_t>(view.n * planes * words), 0);
  for (int64_t i = 0; i < view.n; ++i) {
    const uint8_t* codes = view.bytes + view.start_of(i);
    uint64_t* target = data.data() + i * planes * words;
    for (int64_t p = 0; p < view.length; ++p)
      for (int64_t plane = 0; codes[p] != kUnknown && plane < planes; ++plane)
        target[plane * words + p / 64] |= uint64_t(codes[p] >> plane & 1) << (p % 64);
  }
  return own(std::move(data));
}

Array<uint64_t> hidden_letters(const SequenceView& view) {
  const int64_t words = words_for(view.length), count = view.n * view.length;
  if (std::find(view.bytes, view.bytes + count, kUnknown) == view.bytes + count) return {};
  std::vector<uint64_t> hidden(static_cast<size_t>(view.n * words), 0);
  for (int64_t i = 0; i < view.n; ++i)
    for (int64_t p = 0; p < view.length; ++p)
      if (view.bytes[view.start_of(i) + p] == kUnknown)
        hidden[i * words + p / 64] |= uint64_t{1} << (p % 64);
  return own(std::move(hidden));
}

const SequenceView& equally_long(const SequenceView& view) {
  if (view.lengths) throw std::invalid_argument("sequences of unequal length have no bit planes");
  return view;
}

}  // namespace

PlaneTable::PlaneTable(const SequenceView& view, std::shared_ptr<const void> owner)
    : PlaneTable(equally_long(view).planes ? Array<uint64_t>{view.words, owner}
                                           : spread(view, planes_for(view)),
                 view.planes ? Array<uint64_t>{view.unknown, owner} : hidden_letters(view), view.n,
                 view.length, planes_for(view)) {}

PlaneTable::PlaneTable(Array<uint64_t> data, Array<uint64_t> hidden, int64_t n, int64_t length,
                       int64_t planes)
    : n(n),
      length(length),
      planes(planes),
      words(words_for(length)),
      masked(hidden.data != nullptr),
      data(std::move(data)),
      hidden(std::move(hidden)) {}

std::shared_ptr<const Table> PlaneTable::subset(IdSpan ids) const {
  const int64_t count = int64_t(ids.size());
  std::vector<uint64_t> chosen(static_cast<size_t>(count * planes * words));
  std::vector<uint64_t> mask(masked ? static_cast<size_t>(count * words) : 0);
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(letters(ids[i]), planes * words, chosen.data() + i * planes * words);
    if (masked) std::copy_n(unknown(ids[i]), words, mask.data() + i * words);
  }
  return std::make_shared<PlaneTable>(own(std::move(chosen)),
                                      masked ? own(std::move(mask)) : Array<uint64_t>{}, count,
                                      length, planes);
}

void check_planes(const PlaneTable& a, const PlaneTable& b) {
  if (a.planes != b.planes)
    throw std::invalid_argument("the two sets of sequences have different alphabets");
}

}  // namespace kw

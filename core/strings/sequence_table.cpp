#include "strings/sequence_table.h"

#include <algorithm>

namespace kw {
namespace {

struct Copied {
  std::vector<uint64_t> words, unknown;
  std::vector<uint8_t> bytes;
  std::vector<int64_t> starts, lengths;
};

template <typename T>
void append(std::vector<T>& to, const T* from, int64_t count) {
  to.insert(to.end(), from, from + count);
}

}  // namespace

std::shared_ptr<const Table> SequenceTable::subset(IdSpan ids) const {
  const int64_t count = int64_t(ids.size());
  auto held = std::make_shared<Copied>();
  for (int64_t r = 0; r < count; ++r) {
    const int64_t start = view.start_of(ids[r]), length = view.length_of(ids[r]);
    const int64_t width = words_for(length);
    if (view.lengths) {
      held->starts.push_back(int64_t(view.planes ? held->words.size() : held->bytes.size()));
      held->lengths.push_back(length);
    }
    if (view.planes)
      append(held->words, view.words + start, 2 * width);
    else
      append(held->bytes, view.bytes + start, length);
    if (view.unknown) append(held->unknown, view.unknown + start / 2, width);
  }
  SequenceView chosen = view;
  chosen.n = count;
  chosen.words = held->words.data();
  chosen.bytes = held->bytes.data();
  if (view.unknown) chosen.unknown = held->unknown.data();
  if (view.lengths) {
    chosen.starts = held->starts.data();
    chosen.lengths = held->lengths.data();
  }
  return std::make_shared<SequenceTable>(chosen, held);
}

void check_alphabet(const Table& a, const Table& b, uint64_t letters) {
  for (const Table* table : {&a, &b})
    if (uint64_t(sequences_of(*table).letters) != letters)
      throw std::invalid_argument("the sequences are of another alphabet than the kernel's");
}

}  // namespace kw

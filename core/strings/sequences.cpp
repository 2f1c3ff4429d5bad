#include "strings/sequences.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace kw {

namespace {

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

constexpr int64_t kLongest = int64_t{1} << 48;  // longest sequence: sums cannot overflow

int64_t items_for(int64_t length, bool planes) { return planes ? 2 * words_for(length) : length; }

void check_equal_lengths(const SequenceView& view, int64_t size) {
  require(view.n == 0 || (view.length >= 1 && view.length <= kLongest),
          "sequences: length must be at least 1");
  const int64_t each = items_for(view.length, view.planes);
  require(view.n == 0 ? size == 0 : size / view.n == each && size % view.n == 0,
          "sequences: data do not have the size that n and length say");
}

void check_own_lengths(const SequenceView& view, const SequenceSizes& sizes) {
  require(sizes.lengths == view.n && sizes.starts == view.n + 1 && view.starts[0] == 0,
          "sequences: lengths must be n numbers");
  int64_t end = 0;
  for (int64_t i = 0; i < view.n; ++i) {
    const int64_t length = view.lengths[i];
    require(length >= 1 && length <= kLongest, "sequences: lengths must be at least 1");
    end += items_for(length, view.planes);
    require(end <= sizes.data && view.starts[i + 1] == end,
            "sequences: data do not have the size that lengths say");
  }
  require(end == sizes.data, "sequences: data do not have the size that lengths say");
}

bool known_bytes(const SequenceView& view, int64_t size) {
  bool bad = false;
  for (int64_t at = 0; at < size; ++at)
    bad |= view.bytes[at] >= view.letters && view.bytes[at] != kUnknown;
  return !bad;
}

// Two bits encode four letters; smaller alphabets must not use the other codes.
bool known_words(const SequenceView& view) {
  uint64_t bad = 0;
  for (int64_t i = 0; i < view.n && view.letters < 4; ++i) {
    const int64_t width = words_for(view.length_of(i)), start = view.start_of(i);
    const uint64_t *low = view.words + start, *high = low + width;
    for (int64_t w = 0; w < width; ++w) {
      const uint64_t known = view.unknown ? ~view.unknown[start / 2 + w] : ~uint64_t{0};
      bad |= known & high[w] & (view.letters == 3 ? low[w] : ~uint64_t{0});
    }
  }
  return bad == 0;
}

// Byte p of spread[b] is bit p of b.
constexpr std::array<uint64_t, 256> make_spread() {
  std::array<uint64_t, 256> table = {};
  for (int b = 0; b < 256; ++b)
    for (int p = 0; p < 8; ++p) table[b] |= uint64_t(b >> p & 1) << (8 * p);
  return table;
}
constexpr std::array<uint64_t, 256> kSpread = make_spread();

// Copies bits [start, start + count) of an array of `size` words to out, and fills the last word
// with zeros.
void cut_bits(const uint64_t* words, int64_t size, int64_t start, int64_t count, uint64_t* out) {
  const int64_t width = words_for(count), first = start / 64, shift = start % 64;
  for (int64_t w = 0; w < width; ++w) {
    const int64_t at = first + w;
    out[w] = words[at] >> shift;
    if (shift > 0 && at + 1 < size) out[w] |= words[at + 1] << (64 - shift);
  }
  if (count % 64) out[width - 1] &= (uint64_t{1} << (count % 64)) - 1;
}

uint64_t spread_byte(uint64_t word, int64_t p) { return kSpread[word >> (p % 64) & 255]; }

}  // namespace

void SequenceView::check(const SequenceSizes& sizes) const {
  require(n >= 0, "sequences: n must be at least 0");
  require(letters >= 2 && letters <= kMaxLetters && planes == (letters <= 4),
          "sequences: the alphabet does not fit the data");
  lengths ? check_own_lengths(*this, sizes) : check_equal_lengths(*this, sizes.data);
  require(!unknown || (planes && sizes.unknown == sizes.data / 2),
          "sequences: unknown must be one word for every two of data");
  require(planes ? known_words(*this) : known_bytes(*this, sizes.data),
          "sequences: data hold codes that are no letters of the alphabet");
}

// Eight letters at a time; the first letter of a word has the lowest address.
void SequenceView::unpack(int64_t i, uint8_t* codes) const {
  static_assert(std::endian::native == std::endian::little);
  const int64_t start = start_of(i), count = length_of(i);
  if (!planes) {
    std::copy_n(bytes + start, count, codes);
    return;
  }
  const uint64_t* low = words + start;
  const uint64_t* high = low + words_for(count);
  const uint64_t* hidden = unknown ? unknown + start / 2 : nullptr;
  for (int64_t p = 0; p < count; p += 8) {
    uint64_t eight = spread_byte(low[p / 64], p) | spread_byte(high[p / 64], p) << 1;
    if (hidden) eight |= spread_byte(hidden[p / 64], p) * kUnknown;
    std::memcpy(codes + p, &eight, size_t(std::min<int64_t>(8, count - p)));
  }
}

std::vector<uint8_t> SequenceView::codes(int64_t i) const {
  std::vector<uint8_t> codes(size_t(length_of(i)));
  unpack(i, codes.data());
  return codes;
}

bool SequenceView::all_known(int64_t i) const {
  const int64_t start = start_of(i), count = length_of(i);
  if (!planes)
    return std::find(bytes + start, bytes + start + count, kUnknown) == bytes + start + count;
  return !unknown || std::all_of(unknown + start / 2, unknown + start / 2 + words_for(count),
                                 [](uint64_t word) { return word == 0; });
}

void SequenceView::cut(int64_t i, int64_t start, int64_t count, uint64_t* planes,
                       uint64_t* mask) const {
  const int64_t size = words_for(length_of(i)), width = words_for(count);
  const uint64_t* low = words + start_of(i);
  cut_bits(low, size, start, count, planes);
  cut_bits(low + size, size, start, count, planes + width);
  if (mask) cut_bits(unknown + start_of(i) / 2, size, start, count, mask);
}

void SequenceView::cut(int64_t i, int64_t start, int64_t count, uint8_t* codes) const {
  std::copy_n(bytes + start_of(i) + start, count, codes);
}

int64_t SequenceBuilder::append(std::string_view letters, bool unknown_is_error) {
  const size_t before = codes_.size();
  codes_.resize(before + letters.size());
  uint8_t* out = codes_.data() + before;
  for (size_t at = 0; at < letters.size(); ++at) {
    const uint8_t code = table_[static_cast<uint8_t>(letters[at])];
    if (code == kIllegal || (code == kUnknown && unknown_is_error)) return static_cast<int64_t>(at);
    *out = code;
    out += code != kSkip;
  }
  codes_.resize(static_cast<size_t>(out - codes_.data()));
  return -1;
}

void SequenceBuilder::append_codes(std::span<const uint8_t> codes) {
  codes_.insert(codes_.end(), codes.begin(), codes.end());
}

void SequenceBuilder::pack_planes() {
  const int64_t count = open_length(), width = words_for(count);
  const bool hidden = std::find(codes_.begin(), codes_.end(), kUnknown) != codes_.end();
  if (hidden && unknown.size() == 0) unknown.extend(words.size() / 2);
  const bool masked = hidden || unknown.size() > 0;
  uint64_t* planes = words.extend(2 * width);
  uint64_t* mask = masked ? unknown.extend(width) : nullptr;
  for (int64_t p = 0; p < count; ++p) {
    const uint64_t code = codes_[static_cast<size_t>(p)], bit = p % 64;
    if (code == kUnknown) {
      mask[p / 64] |= uint64_t{1} << bit;
      continue;
    }
    planes[p / 64] |= (code & 1) << bit;
    planes[p / 64 + width] |= (code >> 1) << bit;
  }
}

void SequenceBuilder::finish_record() {
  const int64_t count = open_length();
  if (n_ == 0) length_ = count;
  if (count != length_ && !ragged()) std::fill_n(lengths.extend(n_), n_, length_);
  if (ragged()) lengths.push(count);
  if (planes_)
    pack_planes();
  else
    std::copy_n(codes_.data(), count, bytes.extend(count));
  codes_.clear();
  ++n_;
}

}  // namespace kw

// Packed sequences as the core sees them, and the builder that packs letters.
//
// Letters are coded 0, 1, ... by their place in the alphabet. Up to four letters are stored in two
// bit planes: sequence i takes 2 * W words, W = ceil(length / 64), first the low bits of its codes,
// then the high bits. Larger alphabets take one byte a letter. Letters outside the alphabet are
// marked in a mask of W words a sequence (planes; the mask exists only if there is such a letter)
// or have the code 255 (bytes).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "system/grow.h"
#include "system/ids.h"

namespace kw {

constexpr uint8_t kUnknown = 255, kSkip = 254, kIllegal = 253;
constexpr int kMaxLetters = 253;
using LetterTable = std::array<uint8_t, 256>;

inline int64_t words_for(int64_t length) { return (length + 63) / 64; }

// How many items the arrays of a view have.
struct SequenceSizes {
  int64_t data = 0, unknown = 0, starts = 0, lengths = 0;
};

// Sequences that others own. `starts` (first word or byte) and `lengths` are null when all are
// equally long.
struct SequenceView {
  int64_t n = 0;
  int64_t length = 0;
  bool planes = true;
  int letters = 4;  // size of the alphabet; codes are below it, or unknown
  const uint64_t* words = nullptr;
  const uint64_t* unknown = nullptr;
  const uint8_t* bytes = nullptr;
  const int64_t* starts = nullptr;
  const int64_t* lengths = nullptr;

  int64_t length_of(int64_t i) const { return lengths ? lengths[i] : length; }
  int64_t start_of(int64_t i) const {
    if (starts) return starts[i];
    return planes ? 2 * words_for(length) * i : length * i;
  }
  // The codes of sequence i, one byte a letter.
  void unpack(int64_t i, uint8_t* codes) const;
  // Letters [start, start + count) of sequence i as the arrays of a sequence of its own: 2 * W
  // words of planes and, where there is a mask, W words of it; or count bytes.
  void cut(int64_t i, int64_t start, int64_t count, uint64_t* planes, uint64_t* mask) const;
  void cut(int64_t i, int64_t start, int64_t count, uint8_t* codes) const;
  // Throws where the arrays, which have these sizes, do not hold n sequences of the alphabet.
  void check(const SequenceSizes& sizes) const;
};

// Packs one sequence after another; `finish_record` closes what `append` collected.
class SequenceBuilder {
 public:
  SequenceBuilder(const LetterTable& table, bool planes) : table_(table), planes_(planes) {}

  // Adds letters to the open record; returns the offset of the first letter that is not allowed, or
  // -1.
  int64_t append(std::string_view letters, bool unknown_is_error);
  void append_codes(std::span<const uint8_t> codes);
  // Forgets the finished records, whose arrays have been handed over.
  void restart() { n_ = length_ = 0; }
  int64_t open_length() const { return static_cast<int64_t>(codes_.size()); }
  void finish_record();

  int64_t size() const { return n_; }
  bool planes() const { return planes_; }
  bool ragged() const { return lengths.size() > 0; }
  int64_t length() const { return length_; }

  Growing<uint64_t> words, unknown;
  Growing<uint8_t> bytes;
  Growing<int64_t> lengths;  // filled only once lengths differ

 private:
  void pack_planes();

  LetterTable table_;
  bool planes_;
  int64_t n_ = 0, length_ = 0;
  std::vector<uint8_t> codes_;
};

}  // namespace kw

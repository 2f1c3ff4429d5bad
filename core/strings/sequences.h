// Packed sequences as the core reads them, and the builder that packs letters.
//
// Letters are coded 0, 1, ... by their position in the alphabet. For alphabets of up to four
// letters there are two bit planes: sequence i takes 2 * W words, W = ceil(length / 64), first the
// low bits of its codes, then the high bits. Larger alphabets take one byte per letter. Letters
// outside the alphabet are marked in a mask of W words per sequence (bit planes; the mask exists
// only if there is such a letter), or have the code 255 (bytes).
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

// Number of items of each array of a view.
struct SequenceSizes {
  int64_t data = 0, unknown = 0, starts = 0, lengths = 0;
};

// Sequences whose arrays are owned elsewhere. `starts` (first word or byte) and `lengths` are null
// if all sequences have the same length.
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
  // Writes the codes of sequence i, one byte per letter.
  void unpack(int64_t i, uint8_t* codes) const;
  std::vector<uint8_t> codes(int64_t i) const;
  bool all_known(int64_t i) const;  // true if sequence i has no unknown letters
  // Extracts letters [start, start + count) of sequence i as a packed sequence: 2 * W words of
  // planes and, if there is a mask, W words of it; or count bytes.
  void cut(int64_t i, int64_t start, int64_t count, uint64_t* planes, uint64_t* mask) const;
  void cut(int64_t i, int64_t start, int64_t count, uint8_t* codes) const;
  // Throws unless the arrays, which have these sizes, contain n valid sequences.
  void check(const SequenceSizes& sizes) const;
};

// Packs one sequence after another; `finish_record` ends the sequence whose letters `append`
// collected.
class SequenceBuilder {
 public:
  SequenceBuilder(const LetterTable& table, bool planes) : table_(table), planes_(planes) {}

  // Appends letters to the open record; returns the offset of the first letter that is not allowed,
  // or -1.
  int64_t append(std::string_view letters, bool unknown_is_error);
  void append_codes(std::span<const uint8_t> codes);
  // Removes the finished records, after their arrays were released.
  void restart() { n_ = length_ = 0; }
  int64_t open_length() const { return static_cast<int64_t>(codes_.size()); }
  void finish_record();

  int64_t size() const { return n_; }
  bool planes() const { return planes_; }
  bool ragged() const { return lengths.size() > 0; }
  int64_t length() const { return length_; }

  Growing<uint64_t> words, unknown;
  Growing<uint8_t> bytes;
  Growing<int64_t> lengths;  // empty while all lengths are equal

 private:
  void pack_planes();

  LetterTable table_;
  bool planes_;
  int64_t n_ = 0, length_ = 0;
  std::vector<uint8_t> codes_;
};

}  // namespace kw

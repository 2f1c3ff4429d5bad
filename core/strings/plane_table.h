// Sequences of equal length as bit planes: letter p of a sequence is bit p % 64 of word p / 64 of
// every plane.
#pragma once
#include <algorithm>

#include "kernels/examples.h"
#include "strings/sequences.h"

namespace kw {

class PlaneTable : public Table {
 public:
  // DNA shares the words of the packed sequences; other alphabets are converted to as many planes
  // as their codes need.
  PlaneTable(const SequenceView& view, std::shared_ptr<const void> owner);
  PlaneTable(Array<uint64_t> data, Array<uint64_t> hidden, int64_t n, int64_t length,
             int64_t planes);
  std::shared_ptr<const Table> subset(IdSpan ids) const override;

  const uint64_t* letters(int64_t i) const { return data.data + i * planes * words; }
  const uint64_t* unknown(int64_t i) const {
    return hidden.data ? hidden.data + i * words : nullptr;
  }

  bool all_known(int64_t i) const {
    return !masked ||
           std::all_of(unknown(i), unknown(i) + words, [](uint64_t w) { return w == 0; });
  }
  // True if letter p of sequence i is unknown.
  bool hides(int64_t i, int64_t p) const { return masked && (unknown(i)[p / 64] >> (p % 64) & 1); }

  const int64_t n, length, planes, words;
  const bool masked;

 private:
  Array<uint64_t> data, hidden;  // hidden: mask of unknown letters, or empty
};

inline const PlaneTable& planes_of(const Table& table) { return table_as<PlaneTable>(table); }

// Throws if letters of a cannot be compared with letters of b.
void check_planes(const PlaneTable& a, const PlaneTable& b);

}  // namespace kw

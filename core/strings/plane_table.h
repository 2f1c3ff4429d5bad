// Sequences of equal length as bit planes: letter p of a sequence is bit p % 64 of word p / 64 of
// every plane.
#pragma once
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

  const int64_t n, length, planes, words;
  const bool masked;

 private:
  Array<uint64_t> data, hidden;  // hidden: mask of unknown letters, or empty
};

inline const PlaneTable& planes_of(const Table& table) { return table_as<PlaneTable>(table); }

// Throws if letters of a cannot be compared with letters of b.
void check_planes(const PlaneTable& a, const PlaneTable& b);

}  // namespace kw

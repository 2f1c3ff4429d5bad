// A table of packed sequences of any length.
#pragma once
#include "kernels/examples.h"
#include "strings/sequences.h"

namespace kw {

class SequenceTable : public Table {
 public:
  SequenceTable(const SequenceView& view, std::shared_ptr<const void> owner)
      : view(view), owner(std::move(owner)) {}
  std::shared_ptr<const Table> subset(IdSpan ids) const override;

  const SequenceView view;
  const std::shared_ptr<const void> owner;  // owns the memory of the view
};

inline const SequenceView& sequences_of(const Table& table) {
  return table_as<SequenceTable>(table).view;
}

// Throws unless the sequences of a and b have an alphabet of `letters` letters.
void check_alphabet(const Table& a, const Table& b, uint64_t letters);

}  // namespace kw

// Packed sequences of any length.
#pragma once
#include "kernels/examples.h"
#include "strings/sequences.h"

namespace kw {

class SequenceTable : public Table {
 public:
  SequenceTable(const SequenceView& view, std::shared_ptr<const void> owner)
      : view(view), owner(std::move(owner)) {}
  std::shared_ptr<const Table> subset(const int64_t* ids, int64_t count) const override;

  const SequenceView view;
  const std::shared_ptr<const void> owner;  // keeps what the view shows alive
};

inline const SequenceView& sequences_of(const Table& table) {
  return table_as<SequenceTable>(table).view;
}

}  // namespace kw

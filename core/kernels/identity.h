// The kernel that is 1 for an example and itself, and 0 otherwise.
#pragma once
#include "kernels/quantity.h"

namespace kw {

// The index of the training example to which each example is equal; -1 if there is none.
class IdTable : public Table {
 public:
  explicit IdTable(std::vector<int64_t> ids) : ids(std::move(ids)) {}
  std::shared_ptr<const Table> subset(IdSpan chosen) const override;

  const std::vector<int64_t> ids;
};

std::shared_ptr<const Quantity> identity();

}  // namespace kw

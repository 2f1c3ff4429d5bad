// Packed sequences in NumPy arrays, as Python passes them to the core.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "strings/sequences.h"

namespace kw {

// Checks sequences once when they enter the core; other code relies on it. Arrays of a wrong type
// are refused and not converted, since the view must refer to the memory that Python owns.
struct PackedSequences {
  PackedSequences(int64_t n, std::optional<int64_t> length, nanobind::object data, int letters,
                  nanobind::object unknown, nanobind::object lengths, nanobind::object starts);

  SequenceView view;

 private:
  std::vector<nanobind::object> arrays_;  // keeps the arrays alive
};

}  // namespace kw

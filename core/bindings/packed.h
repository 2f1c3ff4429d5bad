// Packed sequences that NumPy arrays hold.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "strings/sequences.h"

namespace kw {

// The border at which sequences enter the core. Arrays of another type are refused, not converted:
// the view must show what Python keeps. All else is checked here once, and relied on behind.
struct PackedSequences {
  PackedSequences(int64_t n, std::optional<int64_t> length, nanobind::object data, int letters,
                  nanobind::object unknown, nanobind::object lengths, nanobind::object starts);

  SequenceView view;

 private:
  std::vector<nanobind::object> arrays_;  // keeps the arrays alive
};

}  // namespace kw

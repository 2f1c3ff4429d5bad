// Declarations for the bindings of sequences and string kernels.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>

#include "stores/store.h"

namespace kw {

// A string quantity as Python sees it: the quantity with its parameters.
struct Source {
  std::shared_ptr<const Quantity> quantity;
};

void bind_strings(nanobind::module_& m);
void bind_words(nanobind::module_& m);
void bind_stores(nanobind::module_& m);

}  // namespace kw

// Sequences and string kernels for Python: their own file, called by module.cpp.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>

#include "kernels/quantity.h"

namespace kw {

// A shared quantity that Python made with parameters.
struct Source {
  std::shared_ptr<const Quantity> quantity;
};

void bind_strings(nanobind::module_& m);
void bind_words(nanobind::module_& m);
void bind_stores(nanobind::module_& m);

}  // namespace kw

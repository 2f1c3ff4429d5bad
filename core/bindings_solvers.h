#pragma once
#include <nanobind/nanobind.h>

namespace kw {

void bind_solvers(nanobind::module_& m);

}  // namespace kw

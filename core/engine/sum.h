// The plain sum of all kernels of a program as one shared quantity: what is cached of a row are its
// values, and no kernel is evaluated again.
#pragma once
#include <memory>

#include "kernels/program.h"

namespace kw {

// A program of one kernel, the sum of those of another one.
Program sum_of(std::shared_ptr<const Program> parts);

// The examples of that other program, as the sum reads them.
Side examples_of_sum(Side parts);

}  // namespace kw

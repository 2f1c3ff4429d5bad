// The plain sum of all kernels of a program as one shared quantity. A cached row then contains the
// values of the sum, so that no kernel is evaluated again.
#pragma once
#include <memory>

#include "kernels/program.h"

namespace kw {

// Returns a program with one kernel: the sum of the kernels of `parts`.
Program sum_of(std::shared_ptr<const Program> parts);

// Returns the examples of `parts` as input of the program of `sum_of`.
Side examples_of_sum(Side parts);

}  // namespace kw

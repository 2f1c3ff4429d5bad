// Sums of linear kernels: sum_r factors[r] <x_r, y> = <w, y> with w = sum_r factors[r] x_r, a dense
// vector. Adding or looking up an example costs one dot product.
#pragma once
#include "kernels/quantity.h"

namespace kw {

std::unique_ptr<Sums> sum_vectors(const VectorTable& a, IdSpan rows,
                                  std::span<const double> factors);

}  // namespace kw

// A sum of dot products is the dot product with a sum: w = sum_r factors[r] x_r, as a dense vector.
#pragma once
#include "kernels/quantity.h"

namespace kw {

std::unique_ptr<Sums> sum_vectors(const VectorTable& a, IdSpan rows,
                                  std::span<const double> factors);

}  // namespace kw

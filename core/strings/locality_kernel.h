// The inner sum of the locality-improved kernel (Zien et al., 2000):
//
//   sum_p (1 / (2 l + 1) sum_{|j| <= l} I(x_{p+j} = y_{p+j}))^d
//
// over the positions p whose window of 2 l + 1 letters lies inside the sequences. Linear in their
// length.
#pragma once
#include "kernels/quantity.h"

namespace kw {

// half_window: l, at most 31; degree: d, at least 1.
std::shared_ptr<const Quantity> locality_improved(int64_t half_window, int64_t degree);

}  // namespace kw

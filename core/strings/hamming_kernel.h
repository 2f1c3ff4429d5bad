// Kernels that compare all words of two sequences by their number of mismatches,
//
//   k_p(x, y) = sum over words u of x and v of y of h_p(mismatches of u and v).
//
// Examples are gapped k-mers (Ghandi et al., 2014), mismatch kernels (Leslie et al., 2004) and
// k-mers that must be equal. Members p of a family differ only in the function h_p.
#pragma once
#include "strings/hamming_parameters.h"

namespace kw {

std::shared_ptr<const StoredQuantity> hamming_kernel(HammingParameters parameters);

// The parameters of a kernel that `hamming_kernel` made; null for other quantities.
const HammingParameters* hamming_parameters(const Quantity& quantity);

}  // namespace kw

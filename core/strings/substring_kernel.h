// Kernels that count common substrings of any length at any position,
//
//   k(x, y) = sum_u w(|u|) #u(x) #u(y).
//
// With a single length it is the spectrum kernel for k-mers that do not fit into 64 bits.
#pragma once
#include "stores/kmer_store.h"

namespace kw {

// weights: w(1), w(2), ...; store: kAuto, kRows or kSuffix.
std::shared_ptr<const StoredQuantity> substring_kernel(int letters, std::vector<double> weights,
                                                       StoreKind store);

}  // namespace kw

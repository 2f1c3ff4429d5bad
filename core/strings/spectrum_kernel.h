// The spectrum kernel (Leslie, Eskin and Noble, 2002): k(x, y) = sum_u #u(x) #u(y) over all k-mers
// u. Counts are not cached: k-mers are read from the packed sequences when needed.
#pragma once
#include "stores/kmer_store.h"

namespace kw {

std::shared_ptr<const StoredQuantity> spectrum_kernel(const KmerRule& rule, StoreKind store);

}  // namespace kw

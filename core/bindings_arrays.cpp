// Arrays for results.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "bindings.h"

namespace nb = nanobind;

namespace kw {
namespace {

// Memory for a large result comes in huge pages where the system has them: small ones would take
// longer to hand out than to fill.
double* allocate(size_t count) {
  constexpr size_t kHuge = size_t(1) << 21;
  const size_t bytes = std::max(count * sizeof(double), sizeof(double));
  const size_t page = bytes >= 2 * kHuge ? kHuge : 64;
  void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (page == kHuge) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<double*>(memory);
}

}  // namespace

Out make_array(std::vector<size_t> shape) {
  size_t size = 1;
  for (size_t extent : shape) size *= extent;
  double* data = allocate(size);
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return Out(data, shape.size(), shape.data(), owner);
}

}  // namespace kw

#include "system/recycled.h"

#if defined(__linux__)
#include <sys/mman.h>
#elif defined(_WIN32)
#include <malloc.h>
#endif

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>

namespace kw {
namespace {

constexpr size_t kLeast = 4096;             // smaller buffers are left to malloc
constexpr size_t kMost = size_t{64} << 20;  // maximum number of free bytes kept
constexpr size_t kSteps = 4;                // sizes for each power of two

// Free buffers by size. A caller that finds the lock taken uses the system allocator instead of
// waiting. So a child forked while the lock is taken does not hang.
struct Waiting {
  std::mutex lock;
  std::array<std::vector<void*>, 64 * kSteps> buffers;
  size_t bytes = 0;
};

Waiting& kept = *new Waiting;  // never destroyed: buffers may be returned at exit

// Rounds a size up to one of kSteps sizes per power of two, so that similar sizes share buffers.
size_t rounded(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / kSteps;
  return (bytes + step - 1) / step * step;
}

size_t number_of(size_t size) {
  const size_t power = std::bit_floor(size);
  return size_t(std::countr_zero(power)) * kSteps + (size - power) / (power / kSteps);
}

// Large buffers use huge pages if the system has them: mapping small pages takes longer than
// filling them.
void* from_system(size_t bytes) {
  constexpr size_t kHuge = size_t{1} << 21;
  const size_t page = bytes >= 2 * kHuge ? kHuge : 64;
  const size_t size = (bytes + page - 1) / page * page;
#if defined(_WIN32)  // the Windows C library has no aligned_alloc
  void* buffer = _aligned_malloc(size, page);
#else
  void* buffer = std::aligned_alloc(page, size);
#endif
  if (!buffer) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (page == kHuge) madvise(buffer, bytes, MADV_HUGEPAGE);
#endif
  return buffer;
}

void to_system(void* buffer) noexcept {
#if defined(_WIN32)
  _aligned_free(buffer);
#else
  std::free(buffer);
#endif
}

}  // namespace

void* take_buffer(size_t bytes) {
  if (bytes < kLeast) return from_system(bytes ? bytes : 1);
  const size_t size = rounded(bytes);
  {
    const std::unique_lock<std::mutex> lock(kept.lock, std::try_to_lock);
    if (lock && !kept.buffers[number_of(size)].empty()) {
      void* buffer = kept.buffers[number_of(size)].back();
      kept.buffers[number_of(size)].pop_back();
      kept.bytes -= size;
      return buffer;
    }
  }
  return from_system(size);
}

void give_buffer(void* buffer, size_t bytes) noexcept {
  if (bytes >= kLeast) {
    const size_t size = rounded(bytes);
    const std::unique_lock<std::mutex> lock(kept.lock, std::try_to_lock);
    if (lock && kept.bytes + size <= kMost) {
      try {
        kept.buffers[number_of(size)].push_back(buffer);
        kept.bytes += size;
        return;
      } catch (const std::bad_alloc&) {  // the buffer is freed then
      }
    }
  }
  to_system(buffer);
}

}  // namespace kw

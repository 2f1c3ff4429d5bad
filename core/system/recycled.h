// Memory that is handed on. A buffer that is no longer needed waits for the next one of its size:
// the system takes longer to hand out new pages than a weight store takes to fill them.
#pragma once
#include <cstddef>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace kw {

void* take_buffer(size_t bytes);
void give_buffer(void* buffer, size_t bytes) noexcept;

template <class T>
struct Recycled {
  using value_type = T;

  Recycled() = default;
  template <class U>
  Recycled(const Recycled<U>&) {}

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(take_buffer(count * sizeof(T)));
  }
  void deallocate(T* buffer, size_t count) noexcept { give_buffer(buffer, count * sizeof(T)); }
  // Numbers that a buffer grows by are not set: they are about to be written.
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0)
      ::new (static_cast<void*>(place)) U;
    else
      ::new (static_cast<void*>(place)) U{std::forward<Arguments>(arguments)...};
  }
  bool operator==(const Recycled&) const { return true; }
};

template <class T>
using Buffer = std::vector<T, Recycled<T>>;

}  // namespace kw

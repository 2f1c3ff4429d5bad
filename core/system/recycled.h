// An allocator that reuses freed buffers. Mapping new pages takes the system longer than filling a
// weight store with values, so that freed buffers are kept for the next request of their size.
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
  // New elements are left uninitialised: the caller overwrites them.
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

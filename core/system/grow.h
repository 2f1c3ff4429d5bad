// A growing array whose peak memory is its size, not twice that: large blocks are resized by
// remapping pages.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace kw {

template <class T>
class Growing {
 public:
  Growing() = default;
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  ~Growing() { std::free(data_); }

  // Appends `count` zeroed items and returns a pointer to them, which is valid until the next call.
  T* extend(int64_t count) {
    if (!data_ || size_ + count > capacity_) reserve(size_ + count + (size_ >> 1));
    T* place = data_ + size_;
    if (count > 0) std::memset(place, 0, sizeof(T) * static_cast<size_t>(count));
    size_ += count;
    return place;
  }
  void push(T value) { *extend(1) = value; }
  T* data() { return data_; }
  int64_t size() const { return size_; }

  // Releases the memory (from malloc, shrunk to its size) to the caller; the array is empty
  // afterwards.
  T* release() {
    reserve(size_);
    size_ = capacity_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  void reserve(int64_t capacity) {
    const size_t bytes = sizeof(T) * static_cast<size_t>(capacity > 0 ? capacity : 1);
    T* moved = static_cast<T*>(std::realloc(data_, bytes));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = moved;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  int64_t size_ = 0, capacity_ = 0;
};

}  // namespace kw

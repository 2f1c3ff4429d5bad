// A hash map from integers to values in one array: open addressing, linear probing, at most half
// full.
#pragma once
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

namespace kw {

template <class T>
class OpenMap {
 public:
  explicit OpenMap(int64_t expected = 0) { resize(expected); }

  int64_t size() const { return size_; }
  int64_t bytes() const { return int64_t(slots_.size() * sizeof(Slot)); }

  // The value of a key, which is inserted if it is missing.
  T& operator[](uint64_t key) {
    Slot* slot = place(key);
    if (slot->key != key) {
      if (2 * (size_ + 1) > int64_t(slots_.size())) {
        resize(2 * (size_ + 1));
        slot = place(key);
      }
      slot->key = key;
      ++size_;
    }
    return slot->value;
  }

  const T* find(uint64_t key) const {
    const Slot* slot = const_cast<OpenMap*>(this)->place(key);
    return slot->key == key ? &slot->value : nullptr;
  }

  template <std::invocable<uint64_t, const T&> Visit>
  void each(Visit&& visit) const {
    for (const Slot& slot : slots_)
      if (slot.key != kNone) visit(slot.key, slot.value);
  }

  void prefetch(uint64_t key) const { __builtin_prefetch(slots_.data() + home(key)); }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};  // marks empty slots; no key is that large
  struct Slot {
    uint64_t key = kNone;
    T value = {};
  };

  size_t home(uint64_t key) const { return size_t(key * 0x9e3779b97f4a7c15ULL >> shift_); }

  Slot* place(uint64_t key) {
    size_t at = home(key);
    while (slots_[at].key != key && slots_[at].key != kNone) at = (at + 1) & (slots_.size() - 1);
    return slots_.data() + at;
  }

  void resize(int64_t expected) {
    const int bits = std::max(4, int(std::bit_width(uint64_t(2 * expected))));
    std::vector<Slot> before(size_t{1} << bits);
    before.swap(slots_);
    shift_ = 64 - bits;
    for (const Slot& slot : before)
      if (slot.key != kNone) *place(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  int64_t size_ = 0;
  int shift_ = 60;
};

}  // namespace kw

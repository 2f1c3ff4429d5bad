// Lists of example indices.
#pragma once
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace kw {

using IdSpan = std::span<const int64_t>;

// 0, 1, ..., n - 1.
inline std::vector<int64_t> all_ids(int64_t n) {
  std::vector<int64_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// Gathers values[ids[0]], values[ids[1]], ...
template <typename T>
std::vector<T> gather(const T* values, IdSpan ids) {
  std::vector<T> chosen;
  chosen.reserve(ids.size());
  for (int64_t id : ids) chosen.push_back(values[id]);
  return chosen;
}

}  // namespace kw

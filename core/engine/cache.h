// A cache of matrix rows that evicts the least recently used row first. A row belongs to one
// example and contains the shared quantities of that example with all others. The cache owns the
// rows; finding, inserting and dropping one takes constant time.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kw {

class RowCache {
 public:
  RowCache(int64_t row_values, int64_t bytes)
      : row_values_(row_values),
        capacity_(row_values ? bytes / (row_values * int64_t(sizeof(double))) : 0) {}

  // Returns the cached row of example i, or null.
  const double* find(int64_t i) {
    const auto found = rows_.find(i);
    if (found == rows_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->values.get();
  }

  bool contains(int64_t i) const { return rows_.contains(i); }

  // Returns uninitialised memory for the row of example i, which the caller fills. Rows used since
  // the last `start_pass` are never evicted; returns null if nothing else can be evicted.
  double* insert(int64_t i) {
    if (capacity_ == 0) return nullptr;
    std::unique_ptr<double[]> values;
    if (int64_t(order_.size()) >= capacity_) {
      if (order_.back().pass == pass_) return nullptr;
      values = std::move(order_.back().values);
      rows_.erase(order_.back().example);
      order_.pop_back();
    } else {
      values.reset(new double[row_values_]);
    }
    order_.push_front({i, pass_, std::move(values)});
    rows_[i] = order_.begin();
    return order_.front().values.get();
  }

  // Sets the maximum number of bytes, and evicts rows until it is respected.
  void limit(int64_t bytes) {
    if (row_values_ == 0) return;
    capacity_ = std::min(capacity_, bytes / (row_values_ * int64_t(sizeof(double))));
    while (int64_t(order_.size()) > capacity_) drop(order_.back().example);
  }

  void start_pass() { ++pass_; }
  void keep(int64_t i) { rows_.at(i)->pass = pass_; }
  void drop(int64_t i) {
    const auto found = rows_.find(i);
    if (found == rows_.end()) return;
    order_.erase(found->second);
    rows_.erase(found);
  }
  int64_t size() const { return int64_t(order_.size()); }

  template <std::invocable<int64_t, const double*> Visit>
  void oldest_first(Visit&& visit) const {
    for (auto row = order_.rbegin(); row != order_.rend(); ++row)
      visit(row->example, row->values.get());
  }

 private:
  struct Row {
    int64_t example;
    uint64_t pass;
    std::unique_ptr<double[]> values;
  };

  const int64_t row_values_;
  int64_t capacity_;
  uint64_t pass_ = 0;
  std::list<Row> order_;
  std::unordered_map<int64_t, std::list<Row>::iterator> rows_;
};

}  // namespace kw

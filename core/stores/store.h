// Sparse weight vectors w = sum_r delta_r Phi(x_r), indexed by words, and their products <w,
// Phi(x)> with new sequences x. Only words that occur are stored. Sonnenburg, Raetsch and Rieck
// (2007, section 4.3) call the operations clear, add and lookup.
//
// `add` may postpone work; `prepare` completes it, once before the first look-up.
#pragma once
#include <functional>
#include <string>

#include "kernels/quantity.h"

namespace kw {

// Receives a word of w: the position at which it must start (-1: anywhere), the codes of its
// letters, and its weight.
using VisitWord = std::function<void(int64_t position, const std::string& codes, double weight)>;

constexpr int64_t kSequencesBetweenLooks = 16;  // sequences read between two checks for interrupts

class Store : public Sums {
 public:
  virtual const char* kind() const = 0;  // name of the data structure
  virtual void clear() = 0;
  // w += sum_r delta[r] Phi(example rows[r] of a)
  virtual void add(const Table& a, IdSpan rows, std::span<const double> delta) = 0;
  // w += the weights of another store of the same kernel.
  virtual void merge(const Store& other) = 0;
  virtual void prepare(int /*threads*/) {}
  // Calls visit once for every word with a nonzero weight.
  virtual void items(const VisitWord& visit) const = 0;
  virtual int64_t bytes() const = 0;
};

// A string kernel whose sums of rows can be kept in a store.
class StoredQuantity : public Quantity {
 public:
  // Returns an empty store, for sequences of `letters` letters in total.
  virtual std::unique_ptr<Store> make_store(int64_t letters) const = 0;
};

}  // namespace kw

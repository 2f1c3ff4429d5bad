// Sparse weight stores: w = sum_r delta_r Phi(x_r), a vector indexed by words, of which only the
// words that occur are cached, and <w, Phi(x)> for new sequences x. Sonnenburg, Raetsch and Rieck
// (2007, section 4.3) call the operations clear, add and lookup.
//
// Adding may put work off; `prepare` does it, once before the first look-up.
#pragma once
#include <functional>
#include <string>

#include "kernels/quantity.h"

namespace kw {

// A word of w: where it must start (-1: anywhere), its letters as codes, its weight.
using VisitWord = std::function<void(int64_t position, const std::string& codes, double weight)>;

constexpr int64_t kSequencesBetweenLooks = 16;  // at signals, while sequences are read

class Store : public Sums {
 public:
  virtual void clear() = 0;
  // w += sum_r delta[r] Phi(example rows[r] of a)
  virtual void add(const Table& a, IdSpan rows, std::span<const double> delta) = 0;
  // w += the weights of another store of the same kernel.
  virtual void merge(const Store& other) = 0;
  virtual void prepare(int /*threads*/) {}
  // Every word whose weight is not zero, once.
  virtual void items(const VisitWord& visit) const = 0;
  virtual int64_t bytes() const = 0;
};

}  // namespace kw

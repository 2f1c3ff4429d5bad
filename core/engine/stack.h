// The values of all kernels between all examples. Those of a pair stand next to each other: a
// weighted sum of kernels is a product of short vectors, and a change of alpha one of long ones.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/program.h"
#include "system/recycled.h"

namespace kw {

class Stack {
 public:
  Stack(const Program& program, const Side& side, int threads);

  int64_t n() const { return n_; }
  int64_t n_kernels() const { return kernels_; }
  double* outputs() { return outputs_.data(); }  // n x M

  // out (count x count): sum_m weights[m] k_m inside a working set.
  void block(const int64_t* ids, int64_t count, const double* weights, double* out) const;
  // out (M x count x count): every k_m inside a working set.
  void blocks(const int64_t* ids, int64_t count, double* out) const;
  // outputs[i, m] += sum_r delta[r] k_m(x_ids[r], x_i).
  void add(const int64_t* ids, int64_t count, const double* delta);
  void diagonal(double* out) const;
  // The same examples and outputs, fewer of them.
  std::unique_ptr<Stack> subset(const int64_t* ids, int64_t count) const;

 private:
  Stack(int64_t n, int64_t kernels, int threads);
  const double* pair(int64_t i, int64_t j) const {
    return values_.data() + (i * n_ + j) * kernels_;
  }
  double* pair(int64_t i, int64_t j) { return values_.data() + (i * n_ + j) * kernels_; }

  const int64_t n_, kernels_;
  const int threads_;
  Buffer<double> values_;  // n x n x M
  std::vector<double> outputs_;
};

}  // namespace kw

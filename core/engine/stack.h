// The values of all kernels between all examples, for many fits on few examples. Takes M n^2
// numbers of memory; no kernel is evaluated after the construction.
//
// Layout: (example, tile of 16 examples, kernel, 16). If all kernels have a weight, a pass reads
// memory sequentially; if few have one, it reads whole cache lines.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/program.h"
#include "system/recycled.h"

namespace kw {

class Stack {
 public:
  static constexpr int64_t kTile = 16;

  Stack(const Program& program, const Side& side, int threads);

  int64_t n() const { return n_; }
  int64_t n_kernels() const { return kernels_; }
  int64_t n_tiles() const { return tiles_; }
  double* outputs() { return outputs_.data(); }            // M x n
  const double* values() const { return values_.data(); }  // n x tiles x M x 16

  // out (count x count): sum_m weights[m] k_m between the examples of a working set.
  void block(IdSpan ids, const double* weights, double* out) const;
  // out (M x count x count): every k_m between the examples of a working set.
  void blocks(IdSpan ids, double* out) const;
  // outputs[m, i] += sum_r delta[r] k_m(x_ids[r], x_i).
  void add(IdSpan ids, std::span<const double> delta);
  void diagonal(double* out) const;
  // Returns the values and outputs of some of the examples.
  std::unique_ptr<Stack> subset(IdSpan ids) const;

 private:
  Stack(int64_t n, int64_t kernels, int threads);
  int64_t place(int64_t i, int64_t tile, int64_t m) const {
    return ((i * tiles_ + tile) * kernels_ + m) * kTile;
  }
  const double* values(int64_t i, int64_t tile, int64_t m) const {
    return values_.data() + place(i, tile, m);
  }
  double* values(int64_t i, int64_t tile, int64_t m) { return values_.data() + place(i, tile, m); }
  double value(int64_t i, int64_t j, int64_t m) const { return values(i, j / kTile, m)[j % kTile]; }
  void mirror(int64_t tile);

  const int64_t n_, kernels_, tiles_;
  const int threads_;
  Buffer<double> values_;
  std::vector<double> outputs_;
};

}  // namespace kw

// The kernel matrices of linear kernels on one set of examples, as operators for matrix-vector
// products. Owns the tables of the products; the examples must outlive it.
#pragma once
#include <algorithm>

#include "kernels/linear.h"

namespace kw {

class Products {
 public:
  // One bundle of a sum of kernels: the planes of one quantity, multiplied by the same
  // normalisations on both sides.
  struct Part {
    LinearBundle bundle;
    // The one plane that is used, as a quantity; null if there are several.
    std::shared_ptr<const Quantity> quantity;
    std::unique_ptr<Product> product;
    std::vector<double> unit;  // product of the normalisations of each example
    std::vector<bool> counts;  // whether each plane has a nonzero weight

    bool any() const { return std::find(counts.begin(), counts.end(), true) != counts.end(); }
  };

  Products(std::vector<Part> parts, int64_t n, int64_t kernels, int threads);
  Products(const Products&) = delete;

  int64_t n() const { return n_; }
  int64_t n_kernels() const { return kernels_; }

  // Sets the kernel weights of the matrix that `multiply` uses.
  void weigh(const double* weights);
  // out[i] = sum_m weights[m] sum_j v[j] k_m(x_j, x_i).
  void multiply(const double* v, double* out) const;
  // out[m] = v' K_m v.
  void quadratic(const double* v, double* out) const;
  // out[m * count + r] = sum_j v[j] k_m(x_j, x_ids[r]). If `weighed`, outputs of kernels with
  // weight 0 may be left at 0, which saves time.
  void outputs(const double* v, IdSpan ids, bool weighed, double* out) const;

 private:
  // v times the normalisations of a part, elementwise.
  std::vector<double> scaled(const Part& part, const double* v) const;

  std::vector<Part> parts_;
  int64_t n_, kernels_;
  int threads_;
};

}  // namespace kw

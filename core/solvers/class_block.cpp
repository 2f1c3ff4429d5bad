#include "solvers/class_block.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "system/team.h"

namespace kw {
namespace {

constexpr double kDust = 1e-13;         // part of a cost that is rounding
constexpr int64_t kEvery = 5;           // passes between computations of the gap
constexpr int64_t kFaceMoves = 30;      // conjugate gradient moves on a face
constexpr double kFaceAccuracy = 1e-3;  // part of the squared residual at which they stop
constexpr double kMostOutside = 0.05;   // part of a face that may leave its bounds before
constexpr double kBalanced = 0.1;       // part of the gap that sums of alphas may be off by

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// A sum in eight parts, which the compiler can vectorise.
double sum_of_products(const double* a, const double* b, size_t n) {
  double parts[8] = {};
  size_t j = 0;
  for (; j + 8 <= n; j += 8)
    for (size_t l = 0; l < 8; ++l) parts[l] += a[j + l] * b[j + l];
  double sum = 0.0;
  for (; j < n; ++j) sum += a[j] * b[j];
  for (const double one : parts) sum += one;
  return sum;
}

class ClassDescent {
 public:
  ClassDescent(const ClassBlock& block, std::span<double> alpha, std::span<double> outputs,
               std::span<double> bias)
      : block_(block),
        q_(block.codes.size()),
        kernel_(block.kernel, block.kernel + q_ * q_),
        classes_(size_t(block.classes)),
        alpha_(alpha),
        outputs_(outputs),
        bias_(bias),
        excess_(classes_, 0.0),
        slope_(classes_),
        level_(classes_),
        order_(classes_) {
    if (!block.intercept) return;
    centre();
    for (size_t i = 0; i < q_; ++i) penalty_ += kernel_[i * q_ + i] / double(q_);
  }

  int64_t run(double gap, int64_t most) {
    const double cost = std::accumulate(block_.costs.begin(), block_.costs.end(), 0.0);
    const double least = 0.3 * gap / std::max(cost, 1e-300);
    int64_t passes = 0;
    while (passes < most) {
      check_interrupt();
      const double largest = pass(least);
      ++passes;
      if (passes % kEvery == 0 || largest <= least)
        if (off_balance(largest) <= kBalanced * gap && total_gap() <= gap) break;
      if (largest > least) descend_face();
      update_bias();
    }
    if (block_.intercept) balance();
    return passes;
  }

 private:
  // Centres the kernel: with an intercept its mean makes no difference, but would slow descent.
  void centre() {
    std::vector<double> means(q_, 0.0);
    for (size_t i = 0; i < q_; ++i)
      means[i] = std::accumulate(&kernel_[i * q_], &kernel_[i * q_] + q_, 0.0) / double(q_);
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / double(q_);
    for (size_t i = 0; i < q_; ++i)
      for (size_t j = 0; j < q_; ++j) kernel_[i * q_ + j] += mean - means[i] - means[j];
  }

  double gradient(size_t i, size_t k) const {
    const double margin = k == size_t(block_.codes[i]) ? 0.0 : 1.0;
    return outputs_[k * q_ + i] + bias_[k] + penalty_ * excess_[k] + margin;
  }

  // The cost of example i that belongs to class k: C_i p_ik.
  double part(size_t i, size_t k) const {
    const double own = k == size_t(block_.codes[i]) ? block_.costs[i] : 0.0;
    return own - alpha_[k * q_ + i];
  }

  // Solves the examples whose violation is above a threshold one by one; returns the largest
  // violation.
  double pass(double threshold) {
    double largest = 0.0;
    for (size_t i = 0; i < q_; ++i) {
      if (block_.costs[i] <= 0.0) continue;
      double top = -INFINITY, least = INFINITY;
      for (size_t k = 0; k < classes_; ++k) {
        slope_[k] = gradient(i, k);
        top = std::max(top, slope_[k]);
        if (part(i, k) > kDust * block_.costs[i]) least = std::min(least, slope_[k]);
      }
      const double violation = top - least;
      largest = std::max(largest, violation);
      if (violation > threshold) solve_example(i);
    }
    return largest;
  }

  // Sets the alphas of example i to their best values, given `slope_`: C_i p_k = (D_k - beta)_+ / A
  // with D_k the slope at p_k = 0.
  void solve_example(size_t i) {
    const double A = std::max(kernel_[i * q_ + i] + penalty_, 1e-12);
    const double cost = block_.costs[i];
    for (size_t k = 0; k < classes_; ++k) level_[k] = slope_[k] + A * part(i, k);
    std::iota(order_.begin(), order_.end(), size_t(0));
    std::sort(order_.begin(), order_.end(),
              [this](size_t a, size_t b) { return level_[a] > level_[b]; });
    double sum = 0.0, beta = 0.0;
    for (size_t r = 0; r < classes_; ++r) {
      sum += level_[order_[r]];
      beta = (sum - A * cost) / double(r + 1);
      if (r + 1 == classes_ || level_[order_[r + 1]] <= beta) break;
    }
    const size_t own = size_t(block_.codes[i]);
    for (size_t k = 0; k < classes_; ++k)
      if (k != own) set(i, k, -std::max(0.0, (level_[k] - beta) / A));
    set_own(i);
  }

  // Minimises over the alphas that are neither 0 nor at their bound by conjugate gradients, as far
  // as the bounds of each example allow.
  void descend_face() {
    find_face();
    if (face_.empty()) return;
    const size_t count = face_.size();
    std::vector<double> residual(count), direction, product(count), change(count, 0.0);
    for (size_t f = 0; f < count; ++f) residual[f] = -gradient(face_[f].example, face_[f].label);
    project(residual);
    direction = residual;
    double squared = dot(residual, residual);
    const double enough = kFaceAccuracy * squared;
    for (int64_t move = 0; move < kFaceMoves && squared > enough; ++move) {
      multiply(direction, product);
      const double curvature = dot(direction, product);
      if (!(curvature > 0.0)) break;
      const double length = squared / curvature;
      project(product);
      for (size_t f = 0; f < count; ++f) {
        change[f] += length * direction[f];
        residual[f] -= length * product[f];
      }
      if (count_outside(change) > kMostOutside * double(count)) break;
      const double before = squared;
      squared = dot(residual, residual);
      for (size_t f = 0; f < count; ++f)
        direction[f] = residual[f] + squared / before * direction[f];
    }
    shorten(change);
    multiply(change, product);
    double slope = 0.0;
    for (size_t f = 0; f < count; ++f)
      slope += gradient(face_[f].example, face_[f].label) * change[f];
    const double curvature = dot(change, product);
    if (!(slope < 0.0 && curvature > 0.0)) return;
    const double length = std::min(1.0, -slope / curvature);
    for (size_t f = 0; f < count; ++f) change[f] *= length;
    move(change);
  }

  // The alphas that can move either way, example by example.
  void find_face() {
    face_.clear();
    face_examples_.clear();
    for (size_t i = 0; i < q_; ++i) {
      const size_t first = face_.size();
      for (size_t k = 0; k < classes_; ++k)
        if (part(i, k) > kDust * block_.costs[i]) face_.push_back({i, k, face_examples_.size()});
      if (face_.size() < first + 2)
        face_.resize(first);
      else
        face_examples_.push_back(i);
    }
    const size_t m = face_examples_.size();
    face_kernel_.resize(m * m);
    for (size_t a = 0; a < m; ++a)
      for (size_t b = 0; b < m; ++b)
        face_kernel_[a * m + b] = kernel_[face_examples_[a] * q_ + face_examples_[b]];
  }

  // Subtracts the mean over each example, so that its alphas keep their sum.
  void project(std::vector<double>& values) const {
    for (size_t f = 0; f < face_.size();) {
      size_t end = f;
      double sum = 0.0;
      while (end < face_.size() && face_[end].row == face_[f].row) sum += values[end++];
      for (const double mean = sum / double(end - f); f < end; ++f) values[f] -= mean;
    }
  }

  // Returns the change of the gradient, on the face, by a change of its alphas.
  void multiply(const std::vector<double>& values, std::vector<double>& product) {
    const size_t m = face_examples_.size();
    std::vector<double>& all = scratch_;
    all.assign(classes_ * m, 0.0);
    std::vector<double> sums(classes_, 0.0);
    for (size_t f = 0; f < face_.size(); ++f) {
      all[face_[f].label * m + face_[f].row] = values[f];
      sums[face_[f].label] += values[f];
    }
    for (size_t f = 0; f < face_.size(); ++f) {
      const double* const row = face_kernel_.data() + face_[f].row * m;
      const double* const other = all.data() + face_[f].label * m;
      product[f] = sum_of_products(row, other, m) + penalty_ * sums[face_[f].label];
    }
  }

  // Returns how many alphas a change would carry over their bounds.
  double count_outside(const std::vector<double>& change) const {
    double outside = 0.0;
    for (size_t f = 0; f < face_.size(); ++f)
      outside += change[f] > part(face_[f].example, face_[f].label) ? 1.0 : 0.0;
    return outside;
  }

  // Scales the change of each example so that its alphas stay within their bounds.
  void shorten(std::vector<double>& change) const {
    for (size_t f = 0; f < face_.size();) {
      const size_t first = f;
      double length = 1.0;
      for (; f < face_.size() && face_[f].row == face_[first].row; ++f) {
        const double left = part(face_[f].example, face_[f].label);
        if (change[f] > left) length = std::min(length, left / change[f]);
      }
      for (size_t g = first; g < f; ++g) change[g] *= length;
    }
  }

  void move(const std::vector<double>& change) {
    for (size_t f = 0; f < face_.size();) {
      const size_t first = f, i = face_[f].example, own = size_t(block_.codes[i]);
      for (; f < face_.size() && face_[f].row == face_[first].row; ++f) {
        const size_t k = face_[f].label;
        if (k != own) set(i, k, std::min(0.0, alpha_[k * q_ + i] + change[f]));
      }
      set_own(i);
    }
  }

  // Sets the alpha of an example's own class so that its alphas add up to 0 exactly.
  void set_own(size_t i) {
    const size_t own = size_t(block_.codes[i]);
    double others = 0.0;
    for (size_t k = 0; k < classes_; ++k)
      if (k != own) others += alpha_[k * q_ + i];
    set(i, own, -others);
  }

  void set(size_t i, size_t k, double value) {
    const double change = value - alpha_[k * q_ + i];
    if (change == 0.0) return;
    alpha_[k * q_ + i] = value;
    excess_[k] += change;
    const double* const row = kernel_.data() + i * q_;
    double* const outputs = outputs_.data() + k * q_;
    for (size_t j = 0; j < q_; ++j) outputs[j] += change * row[j];
  }

  void update_bias() {
    for (size_t k = 0; k < classes_; ++k) bias_[k] += penalty_ * excess_[k];
  }

  double total_gap() const {
    double gap = 0.0;
    for (size_t i = 0; i < q_; ++i) {
      double top = -INFINITY, mean = 0.0;
      for (size_t k = 0; k < classes_; ++k) {
        const double slope = gradient(i, k);
        top = std::max(top, slope);
        mean += part(i, k) * slope;
      }
      gap += block_.costs[i] * top - mean;
    }
    return gap;
  }

  // Estimates the loss of objective in `balance`: it moves alphas at the price of the violation,
  // which grows with the amount that is moved.
  double off_balance(double violation) const {
    double off = 0.0;
    for (const double excess : excess_)
      off += std::abs(excess) * (violation + penalty_ * std::abs(excess));
    return off;
  }

  // Restores the sums of each class by the moves of alphas that cost least.
  void balance() {
    std::vector<size_t> order(q_);
    for (size_t more = 0; more < classes_; ++more) {
      for (size_t less = 0; less < classes_ && excess_[more] > 0.0; ++less) {
        if (excess_[less] >= 0.0) continue;
        std::iota(order.begin(), order.end(), size_t(0));
        std::vector<double> price(q_);
        for (size_t i = 0; i < q_; ++i) price[i] = gradient(i, less) - gradient(i, more);
        std::sort(order.begin(), order.end(),
                  [&price](size_t a, size_t b) { return price[a] < price[b]; });
        for (const size_t i : order) {
          const double wanted = std::min(excess_[more], -excess_[less]);
          if (wanted <= 0.0) break;
          const double moved = std::min(wanted, part(i, less));
          if (moved > 0.0) transfer(i, less, more, moved);
        }
      }
    }
  }

  // Moves a part of example i between classes; its alphas still add up to 0 exactly.
  void transfer(size_t i, size_t from, size_t to, double moved) {
    const size_t own = size_t(block_.codes[i]);
    if (from != own) set(i, from, std::min(0.0, alpha_[from * q_ + i] + moved));
    if (to != own) set(i, to, alpha_[to * q_ + i] - moved);
    set_own(i);
  }

  struct Entry {
    size_t example, label, row;  // row: position of the example among those of the face
  };

  const ClassBlock& block_;
  const size_t q_;
  std::vector<double> kernel_;
  const size_t classes_;
  std::span<double> alpha_, outputs_, bias_;
  std::vector<double> excess_;  // sums of the changes of alpha, by class
  std::vector<double> slope_, level_;
  std::vector<size_t> order_;
  std::vector<Entry> face_;
  std::vector<size_t> face_examples_;
  std::vector<double> face_kernel_, scratch_;
  double penalty_ = 0.0;
};

}  // namespace

int64_t solve_classes(const ClassBlock& block, double gap, int64_t most, std::span<double> alpha,
                      std::span<double> outputs, std::span<double> bias) {
  return ClassDescent(block, alpha, outputs, bias).run(gap, most);
}

}  // namespace kw

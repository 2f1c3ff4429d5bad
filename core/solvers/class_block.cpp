#include "solvers/class_block.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "system/team.h"

namespace kw {
namespace {

constexpr double kEager = 0.3;     // violations below this part of the largest one can wait
constexpr double kDust = 1e-13;    // part of a cost that is rounding
constexpr double kBalanced = 0.1;  // part of the gap that sums of alphas may be off by

class ClassDescent {
 public:
  ClassDescent(const ClassBlock& block, std::span<double> alpha, std::span<double> outputs,
               std::span<double> bias)
      : block_(block),
        q_(block.codes.size()),
        classes_(size_t(block.classes)),
        alpha_(alpha),
        outputs_(outputs),
        bias_(bias),
        excess_(classes_, 0.0),
        slope_(classes_),
        level_(classes_),
        order_(classes_) {
    double trace = 0.0;
    for (size_t i = 0; i < q_; ++i) trace += block.kernel[i * q_ + i];
    penalty_ = block.intercept ? trace / double(q_) : 0.0;
  }

  int64_t run(double gap, int64_t most) {
    const double cost = std::accumulate(block_.costs.begin(), block_.costs.end(), 0.0);
    const double least = 0.3 * gap / std::max(cost, 1e-300);
    double threshold = 0.0;
    int64_t passes = 0;
    while (passes < most) {
      check_interrupt();
      const double largest = pass(std::max(threshold, least));
      ++passes;
      update_bias();
      threshold = kEager * largest;
      if (largest <= 3 * least || passes % 10 == 0) {
        if (total_gap() <= gap && off_balance() <= kBalanced * gap) break;
      }
    }
    if (block_.intercept) balance();
    return passes;
  }

 private:
  double gradient(size_t i, size_t k) const {
    const double margin = k == size_t(block_.codes[i]) ? 0.0 : 1.0;
    return outputs_[k * q_ + i] + bias_[k] + penalty_ * excess_[k] + margin;
  }

  // The cost of example i that belongs to class k: C_i p_ik.
  double part(size_t i, size_t k) const {
    const double own = k == size_t(block_.codes[i]) ? block_.costs[i] : 0.0;
    return own - alpha_[k * q_ + i];
  }

  // Solves the examples whose violation is above a threshold; returns the largest violation.
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
    const double A = std::max(block_.kernel[i * q_ + i] + penalty_, 1e-12);
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
    double others = 0.0;
    for (size_t k = 0; k < classes_; ++k) {
      if (k == own) continue;
      const double wanted = -std::max(0.0, (level_[k] - beta) / A);
      set(i, k, wanted);
      others += wanted;
    }
    set(i, own, -others);  // exactly, so that the alphas of an example add up to 0
  }

  void set(size_t i, size_t k, double value) {
    const double change = value - alpha_[k * q_ + i];
    if (change == 0.0) return;
    alpha_[k * q_ + i] = value;
    excess_[k] += change;
    const double* const row = block_.kernel + i * q_;
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

  // What the sums of alphas that are off contribute to the dual value, at most.
  double off_balance() const {
    double off = 0.0;
    for (size_t k = 0; k < classes_; ++k) off += std::abs(excess_[k]) * (1.0 + std::abs(bias_[k]));
    return off;
  }

  // Moves alphas until the sums of each class are what they were, where it costs least.
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
    double others = 0.0;
    if (from != own) set(i, from, std::min(0.0, alpha_[from * q_ + i] + moved));
    if (to != own) set(i, to, alpha_[to * q_ + i] - moved);
    for (size_t k = 0; k < classes_; ++k)
      if (k != own) others += alpha_[k * q_ + i];
    set(i, own, -others);
  }

  const ClassBlock& block_;
  const size_t q_, classes_;
  std::span<double> alpha_, outputs_, bias_;
  std::vector<double> excess_;  // sums of the changes of alpha, by class
  std::vector<double> slope_, level_;
  std::vector<size_t> order_;
  double penalty_ = 0.0;
};

}  // namespace

int64_t solve_classes(const ClassBlock& block, double gap, int64_t most, std::span<double> alpha,
                      std::span<double> outputs, std::span<double> bias) {
  return ClassDescent(block, alpha, outputs, bias).run(gap, most);
}

}  // namespace kw

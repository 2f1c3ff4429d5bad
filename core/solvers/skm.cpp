#include "solvers/skm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/simd.h"
#include "solvers/conjugates.h"
#include "system/team.h"

namespace kw {

namespace {

// The variable gamma that minimises R (skm.h), and the eta_m that follow from it.
class Threshold {
 public:
  Threshold(const double* kappa, IdSpan ids, double d) : inverse_(ids.size()), d_(d) {
    for (size_t c = 0; c < ids.size(); ++c) inverse_[c] = 1.0 / (kappa[ids[c]] * kappa[ids[c]]);
  }

  // gamma is the root of gamma - sum_m d (lifted_m - d gamma)_+ / kappa_m^2, with lifted_m = mu_m +
  // shift_m. This function is concave and increasing: the first step of Newton's method ends below
  // the root or on it, and all further steps increase gamma. The iteration starts at the last
  // gamma.
  void set(const std::vector<double>& lifted) {
    gamma_ = newton(lifted);
    for (double next = newton(lifted); next > gamma_; next = newton(lifted)) gamma_ = next;
  }

  double eta(int64_t c, double mu, double lifted) const {
    if (d_ == 0.0) return inverse_[c];
    return std::max(0.0, lifted - d_ * gamma_) * inverse_[c] / std::max(mu, kTiny);
  }

  // When alpha changes, gamma changes too. This reduces the second derivative of R by
  // coupling() (sum_m coupled(m) mu_m')^2, where coupled(m) = d / kappa_m^2 and the sum is over the
  // kernels with a weight.
  double coupled(int64_t c) const { return d_ * inverse_[c]; }
  double coupling() const { return 1.0 / (1.0 + d_ * d_ * active_); }

  double inverse(int64_t c) const { return inverse_[c]; }

 private:
  static constexpr double kTiny = 1e-150;

  double newton(const std::vector<double>& lifted) {
    double sum = 0.0;
    active_ = 0.0;
    for (size_t c = 0; c < lifted.size(); ++c)
      if (lifted[c] > d_ * gamma_) {
        sum += inverse_[c] * lifted[c];
        active_ += inverse_[c];
      }
    return d_ * sum / (1.0 + d_ * d_ * active_);
  }

  std::vector<double> inverse_;
  double d_, gamma_ = 0.0;
  double active_ = 0.0;  // sum of 1 / kappa_m^2 over the kernels with a weight
};

// R at the present alpha, and its derivatives along a pair of examples.
class SmoothedSvm {
 public:
  SmoothedSvm(const SkmKernels& kernels, int64_t q, const Smoothing& smoothing, double* outputs,
              double* s)
      : k_(kernels),
        count_(int64_t(kernels.ids.size())),
        q_(q),
        smooth_(smoothing.kappa, kernels.ids, smoothing.d),
        shift_(smoothing.shift),
        outputs_(outputs),
        s_(s),
        mu_(count_),
        lifted_(count_),
        eta_(count_),
        rise_(count_),
        bend_(count_),
        shared_(q),
        F(q),
        row(q),
        diagonal(q) {
    refresh();
  }

  const double* kernel_row(int64_t c, int64_t i) const {
    return k_.values + (k_.ids[c] * q_ + i) * q_;
  }

  // Recomputes mu and eta, and with them the gradient F.
  void refresh() {
    for (int64_t c = 0; c < count_; ++c) set_size(c, s_[k_.ids[c]]);
    smooth_.set(lifted_);
    std::fill(F.begin(), F.end(), 0.0);
    for (int64_t c = 0; c < count_; ++c) {
      eta_[c] = smooth_.eta(c, mu_[c], lifted_[c]) / k_.cost[k_.ids[c]];
      if (eta_[c] > 0.0) simd().axpy(eta_[c], outputs_ + k_.ids[c] * q_, F.data(), q_);
    }
  }

  // Computes the curvature of R along the pairs (i, j) for all j, from which the second example is
  // chosen: the combined kernel, and the part due to the change of eta, which grows with 1 /
  // kappa_m^2.
  void steer(int64_t i) {
    std::fill(row.begin(), row.end(), 0.0);
    std::fill(shared_.begin(), shared_.end(), 0.0);
    bend = diagonal;
    for (int64_t c = 0; c < count_; ++c) {
      if (eta_[c] == 0.0) continue;
      simd().axpy(eta_[c], kernel_row(c, i), row.data(), q_);
      if (mu_[c] == 0.0) continue;
      const double cost = k_.cost[k_.ids[c]], along = 1.0 / (mu_[c] * cost);
      const double stiff = smooth_.inverse(c) - eta_[c] * cost, coupled = smooth_.coupled(c);
      const double* g = outputs_ + k_.ids[c] * q_;
      const double at = g[i];
      for (int64_t j = 0; j < q_; ++j) {
        const double change = along * (at - g[j]);
        bend[j] += stiff * change * change;
        shared_[j] += coupled * change;
      }
    }
    for (int64_t j = 0; j < q_; ++j) bend[j] -= smooth_.coupling() * shared_[j] * shared_[j];
  }

  void combine_diagonal() {
    for (int64_t i = 0; i < q_; ++i) {
      diagonal[i] = 0.0;
      for (int64_t c = 0; c < count_; ++c) diagonal[i] += eta_[c] * kernel_row(c, i)[i];
    }
  }

  void aim(int64_t i, int64_t j) {
    for (int64_t c = 0; c < count_; ++c) {
      const double *at_i = kernel_row(c, i), *at_j = kernel_row(c, j);
      const double* g = outputs_ + k_.ids[c] * q_;
      rise_[c] = g[i] - g[j];
      bend_[c] = at_i[i] + at_j[j] - 2.0 * at_i[j];
    }
  }

  // Returns the derivative of R in t, where alpha_i increases and alpha_j decreases by t, and sets
  // the second derivative.
  double slope(double t, double* curvature) {
    for (int64_t c = 0; c < count_; ++c)
      set_size(c, s_[k_.ids[c]] + t * (2.0 * rise_[c] + t * bend_[c]));
    smooth_.set(lifted_);
    double sum = 0.0, second = 0.0, shared = 0.0;
    for (int64_t c = 0; c < count_; ++c) {
      const double eta = smooth_.eta(c, mu_[c], lifted_[c]), cost = k_.cost[k_.ids[c]];
      if (eta == 0.0) continue;
      const double change = (rise_[c] + t * bend_[c]) / cost;  // mu mu'
      const double along = mu_[c] > 0.0 ? change / mu_[c] : 0.0;
      sum += eta * change;
      second += eta * (bend_[c] / cost - along * along) + smooth_.inverse(c) * along * along;
      shared += smooth_.coupled(c) * along;
    }
    *curvature = second - smooth_.coupling() * shared * shared;
    return sum;
  }

  void move(int64_t i, int64_t j, double step) {
    for (int64_t c = 0; c < count_; ++c) {
      const int64_t m = k_.ids[c];
      simd().move(kernel_row(c, i), kernel_row(c, j), step, outputs_ + m * q_, q_);
      s_[m] = std::max(0.0, s_[m] + step * (2.0 * rise_[c] + step * bend_[c]));
    }
    refresh();
  }

 private:
  void set_size(int64_t c, double s) {
    mu_[c] = std::sqrt(std::max(s, 0.0) / k_.cost[k_.ids[c]]);
    lifted_[c] = mu_[c] + shift_[k_.ids[c]];
  }

  const SkmKernels& k_;
  const int64_t count_, q_;
  Threshold smooth_;
  const double* shift_;
  double *outputs_, *s_;
  std::vector<double> mu_, lifted_, eta_, rise_, bend_, shared_;

 public:
  std::vector<double> F, row, bend, diagonal;
};

// The largest and smallest value of alpha_i in a line search: a bound, or zero if the derivative of
// |alpha| jumps there.
double top(const Conjugates& conj, int64_t i, double a) {
  return conj.term().eps[i] > 0.0 && a < 0.0 ? 0.0 : conj.highest(i);
}

double bottom(const Conjugates& conj, int64_t i, double a) {
  return conj.term().eps[i] > 0.0 && a > 0.0 ? 0.0 : conj.lowest(i);
}

// A step along a pair: alpha_i increases and alpha_j decreases by at most `limit`.
struct PairMove {
  int64_t i, j;
  double alpha_i, alpha_j;
  double limit;
};

// Returns the root of the derivative along the pair, which increases from a negative value, or the
// limit.
double best_step(const Conjugates& conj, SmoothedSvm& svm, const PairMove& p) {
  const double kinks = (p.alpha_i >= 0.0 ? 1.0 : -1.0) * conj.term().eps[p.i] -
                       (p.alpha_j > 0.0 ? 1.0 : -1.0) * conj.term().eps[p.j];
  double low = 0.0, high = p.limit, t = 0.0, curvature;
  const auto slope_at = [&](double t) {
    const double slope = svm.slope(t, &curvature);
    curvature += conj.curvature(p.i, p.alpha_i + t) + conj.curvature(p.j, p.alpha_j - t);
    return slope + kinks + conj.smooth_slope(p.i, p.alpha_i + t) -
           conj.smooth_slope(p.j, p.alpha_j - t);
  };
  double slope = slope_at(0.0);
  bool open = true;  // true while the sign of the slope at `high` is not known
  for (int round = 0; round < 60; ++round) {
    double next = t - slope / std::max(curvature, 1e-300);
    if (std::abs(next - t) <= 1e-13 * t) return t;
    if (!(next < high)) next = open ? high : 0.5 * (low + high);
    if (!(next > low)) next = 0.5 * (low + high);
    if (next == t) return t;
    t = next;
    slope = slope_at(t);
    if (slope < 0.0 && t >= p.limit) return p.limit;
    if (slope >= 0.0) open = false;
    (slope < 0.0 ? low : high) = t;
  }
  return t;
}

}  // namespace

PairSteps solve_skm(const SkmKernels& kernels, const DualTerm& term, const Smoothing& smoothing,
                    double tolerance, int64_t max_steps, std::span<double> alpha, double* outputs,
                    double* s) {
  const int64_t q = int64_t(alpha.size());
  const Conjugates conj(term);
  SmoothedSvm svm(kernels, q, smoothing, outputs, s);
  std::vector<double> up(q), down(q), curvature(q);
  const auto refresh = [&](int64_t i) {
    up[i] = conj.slope_up(i, alpha[i]);
    down[i] = conj.slope_down(i, alpha[i]);
    curvature[i] = conj.curvature(i, alpha[i]);
  };
  for (int64_t i = 0; i < q; ++i) refresh(i);
  PairSteps result = {0, 0.0};
  while (true) {
    const PairChoice choice = simd().choose(svm.F.data(), up.data(), down.data(), q);
    result.violation = choice.max_down - choice.min_up;
    if (!(result.violation > tolerance) || result.steps >= max_steps) return result;
    // Only used to choose j, so that it may be outdated.
    if (result.steps % 64 == 0) svm.combine_diagonal();
    const int64_t i = choice.argmin_up;
    svm.steer(i);
    const int64_t j =
        simd().partner(svm.F.data(), down.data(), curvature.data(), svm.bend.data(), svm.row.data(),
                       choice.min_up, curvature[i] + svm.diagonal[i], q);
    const double from_i = alpha[i], to_i = top(conj, i, from_i);
    const double from_j = alpha[j], to_j = bottom(conj, j, from_j);
    svm.aim(i, j);
    const double step =
        best_step(conj, svm, {i, j, from_i, from_j, std::min(to_i - from_i, from_j - to_j)});
    // A step that ends at a bound or at zero sets alpha to exactly that value.
    alpha[i] = step >= to_i - from_i ? to_i : from_i + step;
    alpha[j] = step >= from_j - to_j ? to_j : from_j - step;
    svm.move(i, j, step);
    refresh(i);
    refresh(j);
    if (++result.steps % 256 == 0) check_interrupt();
  }
}

}  // namespace kw

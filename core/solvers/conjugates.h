// The conjugates conj_i of a loss, which the dual problem adds up, and their derivatives.
// subproblem.h has the formula.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/subproblem.h"

namespace kw {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kEdge = 1e-14;  // smallest distance of an entropic variable from its bounds

// conj_i, its first and second derivative, and its one-sided slopes at kinks and bounds.
class Conjugates {
 public:
  explicit Conjugates(const DualTerm& term) : t_(term) {}

  bool entropic(int64_t i) const { return t_.ent[i] > 0.0; }

  double lowest(int64_t i) const {
    return entropic(i) ? t_.lo[i] + kEdge * (t_.hi[i] - t_.lo[i]) : t_.lo[i];
  }

  double highest(int64_t i) const {
    return entropic(i) ? t_.hi[i] - kEdge * (t_.hi[i] - t_.lo[i]) : t_.hi[i];
  }

  double slope_up(int64_t i, double a) const {
    if (a >= highest(i)) return kInfinity;
    return smooth_slope(i, a) + (a >= 0.0 ? t_.eps[i] : -t_.eps[i]);
  }

  double slope_down(int64_t i, double a) const {
    if (a <= lowest(i)) return -kInfinity;
    return smooth_slope(i, a) + (a > 0.0 ? t_.eps[i] : -t_.eps[i]);
  }

  double curvature(int64_t i, double a) const {
    if (!entropic(i)) return t_.curv[i];
    const double width = t_.hi[i] - t_.lo[i];
    return t_.curv[i] + t_.ent[i] / (width * width * below(i, a) * above(i, a));
  }

  double smooth_slope(int64_t i, double a) const {
    double slope = t_.lin[i] + t_.curv[i] * a;
    if (entropic(i))
      slope += t_.ent[i] / (t_.hi[i] - t_.lo[i]) * std::log(below(i, a) / above(i, a));
    return slope;
  }

  const DualTerm& term() const { return t_; }

 private:
  // Position of a inside its box, from below and from above. Both are exact when they are tiny,
  // which 1 - z is not.
  double below(int64_t i, double a) const {
    return std::max((a - t_.lo[i]) / (t_.hi[i] - t_.lo[i]), kEdge);
  }

  double above(int64_t i, double a) const {
    return std::max((t_.hi[i] - a) / (t_.hi[i] - t_.lo[i]), kEdge);
  }

  const DualTerm& t_;
};

}  // namespace kw

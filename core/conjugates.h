// The dual term of a loss in one variable, and its derivatives.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "subproblem.h"

namespace kw {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kEdge = 1e-14;  // how close an entropic variable may come to its bounds

// conj_i and its derivatives.
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
    const double width = t_.hi[i] - t_.lo[i], z = inside(i, a);
    return t_.curv[i] + t_.ent[i] / (width * width * z * (1.0 - z));
  }

  double smooth_slope(int64_t i, double a) const {
    double slope = t_.lin[i] + t_.curv[i] * a;
    if (entropic(i)) {
      const double z = inside(i, a);
      slope += t_.ent[i] / (t_.hi[i] - t_.lo[i]) * std::log(z / (1.0 - z));
    }
    return slope;
  }

  const DualTerm& term() const { return t_; }

 private:
  double inside(int64_t i, double a) const {
    return std::clamp((a - t_.lo[i]) / (t_.hi[i] - t_.lo[i]), kEdge, 1.0 - kEdge);
  }

  const DualTerm& t_;
};

}  // namespace kw

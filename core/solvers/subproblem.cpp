#include "solvers/subproblem.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/simd.h"
#include "solvers/conjugates.h"
#include "system/team.h"

namespace kw {
namespace {

// A problem in one variable t in [0, limit]: alpha_i increases and alpha_j decreases by t. The
// derivative at 0 is `slope` < 0, and the second derivative of the quadratic part is `bend`.
struct Pair {
  int64_t i, j;
  double alpha_i, alpha_j;
  double slope, bend, limit;
};

// For a piecewise quadratic objective: the derivative jumps by 2 eps where alpha_i or alpha_j is
// zero.
double step_with_kinks(const Conjugates& conj, const Pair& p) {
  const double kink_i = p.alpha_i < 0.0 ? -p.alpha_i : kInfinity;
  const double kink_j = p.alpha_j > 0.0 ? p.alpha_j : kInfinity;
  const double bend = std::max(p.bend + conj.term().curv[p.i] + conj.term().curv[p.j], 1e-12);
  const double ends[3] = {std::min(kink_i, kink_j), std::max(kink_i, kink_j), kInfinity};
  double slope = p.slope, at = 0.0;
  for (double end : ends) {
    end = std::min(end, p.limit);
    const double step = at - slope / bend;
    if (step <= end || end >= p.limit) return std::min(step, p.limit);
    slope += bend * (end - at);
    if (end == kink_i) slope += 2.0 * conj.term().eps[p.i];
    if (end == kink_j) slope += 2.0 * conj.term().eps[p.j];
    at = end;
    if (slope >= 0.0) return at;
  }
  return at;
}

// For a smooth objective: Newton's method on the derivative, with bisection if it leaves the
// bracket.
double step_smooth(const Conjugates& conj, const Pair& p) {
  const double base = conj.smooth_slope(p.i, p.alpha_i) - conj.smooth_slope(p.j, p.alpha_j);
  const auto slope_at = [&](double t) {
    return p.slope + p.bend * t + conj.smooth_slope(p.i, p.alpha_i + t) -
           conj.smooth_slope(p.j, p.alpha_j - t) - base;
  };
  if (slope_at(p.limit) <= 0.0) return p.limit;
  double low = 0.0, high = p.limit, t = 0.0, slope = p.slope;
  for (int round = 0; round < 100; ++round) {
    const double bend =
        p.bend + conj.curvature(p.i, p.alpha_i + t) + conj.curvature(p.j, p.alpha_j - t);
    double next = t - slope / bend;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - t) <= 1e-15 * p.limit) return next;
    t = next;
    slope = slope_at(t);
    (slope < 0.0 ? low : high) = t;
  }
  return t;
}

double best_step(const Conjugates& conj, const Pair& p) {
  if (conj.entropic(p.i) || conj.entropic(p.j)) return step_smooth(conj, p);
  return step_with_kinks(conj, p);
}

}  // namespace

PairSteps solve_pairs(const double* kernel, const DualTerm& term, double tolerance,
                      int64_t max_steps, std::span<double> alpha, double* outputs) {
  const int64_t q = int64_t(alpha.size());
  const Simd& loops = simd();
  const Conjugates conj(term);
  std::vector<double> up(q), down(q), curvature(q), diagonal(q);
  const auto refresh = [&](int64_t i) {
    up[i] = conj.slope_up(i, alpha[i]);
    down[i] = conj.slope_down(i, alpha[i]);
    curvature[i] = conj.curvature(i, alpha[i]);
  };
  for (int64_t i = 0; i < q; ++i) {
    diagonal[i] = kernel[i * q + i];
    refresh(i);
  }
  PairSteps result = {0, 0.0};
  while (true) {
    const PairChoice choice = loops.choose(outputs, up.data(), down.data(), q);
    result.violation = choice.max_down - choice.min_up;
    if (!(result.violation > tolerance) || result.steps >= max_steps) return result;
    const int64_t i = choice.argmin_up;
    const double* row_i = kernel + i * q;
    const int64_t j = loops.partner(outputs, down.data(), curvature.data(), diagonal.data(), row_i,
                                    choice.min_up, curvature[i] + diagonal[i], q);
    const double* row_j = kernel + j * q;
    const Pair pair = {i,
                       j,
                       alpha[i],
                       alpha[j],
                       (up[i] + outputs[i]) - (down[j] + outputs[j]),
                       diagonal[i] + diagonal[j] - 2.0 * row_i[j],
                       std::min(conj.highest(i) - alpha[i], alpha[j] - conj.lowest(j))};
    const double step = best_step(conj, pair);
    // A step that ends at a bound sets alpha to exactly the bound, so that the example counts as
    // bounded.
    alpha[i] = step >= conj.highest(i) - pair.alpha_i ? conj.highest(i) : pair.alpha_i + step;
    alpha[j] = step >= pair.alpha_j - conj.lowest(j) ? conj.lowest(j) : pair.alpha_j - step;
    loops.move(row_i, row_j, step, outputs, q);
    refresh(i);
    refresh(j);
    if (++result.steps % 1024 == 0) check_interrupt();
  }
}

}  // namespace kw

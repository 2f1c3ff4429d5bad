#include "explain/quadrature.h"

#include <cmath>
#include <numbers>

namespace kw {

Quadrature gauss_legendre(int64_t count) {
  Quadrature rule{std::vector<double>(count), std::vector<double>(count)};
  for (int64_t i = 0; i < count; ++i) {
    // Newton's method from the asymptotic approximation of root i of the Legendre polynomial.
    double x = std::cos(std::numbers::pi * (double(i) + 0.75) / (double(count) + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 100; ++step) {
      double value = 1.0, previous = 0.0;
      for (int64_t k = 1; k <= count; ++k) {
        const double next = (double(2 * k - 1) * x * value - double(k - 1) * previous) / double(k);
        previous = value;
        value = next;
      }
      slope = double(count) * (x * value - previous) / (x * x - 1.0);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) <= 1e-16) break;
    }
    rule.nodes[i] = 0.5 * (1.0 - x);
    rule.weights[i] = 1.0 / ((1.0 - x * x) * slope * slope);
  }
  return rule;
}

}  // namespace kw

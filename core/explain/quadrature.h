// Gauss-Legendre quadrature on [0, 1].
#pragma once
#include <cstdint>
#include <vector>

namespace kw {

struct Quadrature {
  std::vector<double> nodes, weights;
};

// The rule with `count` nodes, exact for polynomials of degree 2 * count - 1.
Quadrature gauss_legendre(int64_t count);

}  // namespace kw

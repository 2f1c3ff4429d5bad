#include "engine/profile.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kw {
namespace {

// Largest changes of a kernel, relative to its size, between zero and the shift of the grid, and
// between zero and the first node.
constexpr double kSlight = 1.0 / 16, kNearlyConstant = 1e-9;

double number(int64_t leading) { return std::bit_cast<double>(uint64_t(leading) << kTail); }
int64_t leading(double s) { return int64_t(std::bit_cast<uint64_t>(s) >> kTail); }

const CellBasis<kTerms> kBasis(kHalfCell);

}  // namespace

Profile::Profile(const Program& program, int64_t plane, double bound, bool both_signs)
    : functions_(program, plane) {
  const double end = std::ldexp(1.0, std::ilogb(std::max(bound, 1e-300)) + 1);
  grid_.limit = end;
  grid_.shift = functions_.still(program, end, kSlight);
  grid_.base = leading(grid_.shift);
  grid_.half = leading(end + grid_.shift) - grid_.base + 1;
  const double first = functions_.still(program, end, kNearlyConstant);
  nodes_.base = leading(first) >> (kNodeShift - kTail);
  nodes_.half = (leading(end) >> (kNodeShift - kTail)) - nodes_.base + 2;
  grid_.both_signs = nodes_.both_signs = both_signs;
  coefficients_.assign(grid_.cells() * kTerms, 0.0);
}

std::vector<double> Profile::points() const {
  std::vector<double> points = cell_points(grid_.shift, grid_.half, kTail, kBasis);
  const size_t half = points.size();
  for (size_t at = 0; grid_.both_signs && at < half; ++at) points.push_back(-points[at]);
  return points;
}

void Profile::weigh(const Program& program, const double* weights) {
  const std::vector<double> found = functions_.fit(program, points(), kBasis, weights);
  std::copy(found.begin(), found.end(), coefficients_.begin());
}

// The sum over pairs of an interpolated function is a weighted sum of its values at the nodes; the
// moments determine these weights.
void Profile::integrate(const Program& program, const double* moments, double* out) const {
  std::vector<double> weights(coefficients_.size(), 0.0);
  for (int64_t cell = 0; cell < grid_.cells(); ++cell) {
    const double* moment = moments + cell * kTerms;
    for (int64_t k = 0; k < kTerms; ++k)
      for (int64_t d = 0; d < kTerms; ++d) weights[cell * kTerms + k] += kBasis(k, d) * moment[d];
  }
  functions_.tabulate(program, points(), [&](int64_t m, const double* v, int64_t first, int64_t n) {
    out[m] += simd().dot(v, weights.data() + first, n);
  });
}

void Profile::sample(const Program& program, double* out) const {
  std::vector<double> points;
  for (int64_t k = 0; k < nodes_.half; ++k)
    points.push_back(number((nodes_.base + k) << (kNodeShift - kTail)));
  for (int64_t k = 0; nodes_.both_signs && k < nodes_.half; ++k) points.push_back(-points[k]);
  std::vector<int64_t> row(program.n_kernels());
  const std::vector<int64_t> members = kernels();
  for (size_t r = 0; r < members.size(); ++r) row[members[r]] = int64_t(r);
  const auto copy = [&](int64_t m, const double* v, int64_t first, int64_t n) {
    std::copy_n(v, n, out + row[m] * nodes_.count() + first);
  };
  functions_.tabulate(program, points, copy);
}

}  // namespace kw

#include "solvers/weight_models.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "solvers/conjugates.h"
#include "solvers/subproblem.h"
#include "system/blas.h"

namespace kw {

bool rank_one_response(const double* hessian, std::span<const double> D, double slight, double* P,
                       char* moved) {
  const int64_t M = int64_t(D.size());
  std::vector<int64_t> ids;
  for (int64_t m = 0; m < M; ++m) {
    moved[m] = std::abs(D[m]) * hessian[m * M + m] > slight;
    if (moved[m]) ids.push_back(m);
  }
  const int64_t k = int64_t(ids.size());
  if (k == 0) {
    std::copy_n(hessian, M * M, P);
    return true;
  }
  std::vector<double> A(k * k),
      Z(k * M);                   // column-major: I + H D, and H, rows of the moved kernels
  std::vector<double> HD(M * k);  // row-major: the columns of the moved kernels of H D
  for (int64_t a = 0; a < k; ++a) {
    const double* own = hessian + ids[a] * M;
    for (int64_t b = 0; b < k; ++b) A[b * k + a] = own[ids[b]] * D[ids[b]];
    A[a * k + a] += 1.0;
    for (int64_t j = 0; j < M; ++j) Z[j * k + a] = own[j];
    for (int64_t i = 0; i < M; ++i) HD[i * k + a] = hessian[i * M + ids[a]] * D[ids[a]];
  }
  if (!solve_linear(A, Z, k)) return false;
  // P = H - H D Z, which is symmetric up to rounding.
  dot_products(HD.data(), Z.data(), M, M, k, P, M);
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j <= i; ++j)
      P[i * M + j] = P[j * M + i] =
          0.5 * ((hessian[i * M + j] - P[i * M + j]) + (hessian[j * M + i] - P[j * M + i]));
  return true;
}

bool rank_one_model(const double* hessian, std::span<const double> s, std::span<const double> d,
                    double slight, double* value, double* gradient, double* bent) {
  const int64_t M = int64_t(d.size());
  std::vector<double> D(M), factors(M);
  std::vector<char> moved(M);
  for (int64_t m = 0; m < M; ++m) D[m] = d[m] / s[m];
  if (!rank_one_response(hessian, D, slight, bent, moved.data())) return false;
  *value = 0.0;
  for (int64_t m = 0; m < M; ++m) {
    const double u = -std::inner_product(d.begin(), d.end(), bent + m * M, 0.0);
    const double bend = moved[m] ? u / s[m] : 0.0;
    factors[m] = 1.0 + bend;
    gradient[m] = -0.5 * (s[m] + (2.0 + bend) * u);
    *value -= 0.5 * d[m] * (s[m] + u);
  }
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < M; ++j) bent[i * M + j] *= factors[i] * factors[j];
  return true;
}

bool even_weights(const WeightModel& model, const Evenness& evenness, double* v) {
  const int64_t k = int64_t(model.theta.size());
  std::vector<double> kernel(k * k), slopes(k), low(k), none(k, 0.0), most(k, model.total);
  for (int64_t i = 0; i < k; ++i) {  // substitute weights times costs for the weights
    low[i] = model.costs[i] * model.lower[i];
    v[i] = std::max(model.costs[i] * model.theta[i], low[i]);
  }
  const int64_t largest = std::max_element(v, v + k) - v;
  v[largest] += model.total - std::accumulate(v, v + k, 0.0);
  if (v[largest] < low[largest]) return false;
  for (int64_t i = 0; i < k; ++i) {
    const double cost = model.costs[i];
    slopes[i] = model.gradient[i] / cost;
    for (int64_t j = 0; j < k; ++j)
      kernel[i * k + j] = model.P[i * k + j] / (cost * model.costs[j]);
    kernel[i * k + i] += model.ridge / (cost * cost);
  }
  for (int64_t j = 0; j < k; ++j)
    if (const double moved = v[j] - model.costs[j] * model.theta[j]; moved != 0.0)
      for (int64_t i = 0; i < k; ++i) slopes[i] += kernel[i * k + j] * moved;
  double steepest = -kInfinity;
  for (int64_t i = 0; i < k; ++i)
    if (v[i] > low[i]) steepest = std::max(steepest, slopes[i]);
  const double apart = steepest - *std::min_element(slopes.begin(), slopes.end());
  const double tolerance = std::clamp(evenness.part * apart, 0.0, evenness.most);
  const DualTerm term = {none.data(), none.data(), none.data(),
                         none.data(), low.data(),  most.data()};
  const PairSteps found = solve_pairs(kernel.data(), term, tolerance, evenness.pairs_per_weight * k,
                                      {v, size_t(k)}, slopes.data());
  for (int64_t i = 0; i < k; ++i) v[i] /= model.costs[i];
  return found.violation <= tolerance;
}

}  // namespace kw

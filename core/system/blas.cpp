#include "system/blas.h"

#include <cmath>
#include <stdexcept>

namespace kw {
namespace {
Dgemm dgemm = nullptr;
Dgesv dgesv = nullptr;
}  // namespace

void set_dgemm(Dgemm function) { dgemm = function; }
void set_dgesv(Dgesv function) { dgesv = function; }

void dot_products(const double* a, const double* b, int64_t rows, int64_t columns, int64_t d,
                  double* out, int64_t stride) {
  if (!dgemm) throw std::runtime_error("no BLAS was handed to the core");
  // BLAS is column-major: row-major out = a b' is column-major out' = b a'.
  char transpose = 'T', plain = 'N';
  int m = int(columns), n = int(rows), k = int(d), ldc = int(stride), ld = int(d > 0 ? d : 1);
  double one = 1.0, zero = 0.0;
  dgemm(&transpose, &plain, &m, &n, &k, &one, const_cast<double*>(b), &ld, const_cast<double*>(a),
        &ld, &zero, out, &ldc);
}

bool solve_linear(std::vector<double>& A, std::vector<double>& B, int64_t k) {
  if (!dgesv) throw std::runtime_error("no LAPACK was handed to the core");
  int order = int(k), columns = int(int64_t(B.size()) / k), info = 0;
  std::vector<int> pivots(k);
  dgesv(&order, &columns, A.data(), &order, pivots.data(), B.data(), &order, &info);
  if (info != 0) return false;
  for (int64_t c = 0; c < k; ++c)  // LAPACK does not report NaN
    if (std::isnan(A[c * k + c])) return false;
  return true;
}

}  // namespace kw

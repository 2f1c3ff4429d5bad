#include "system/blas.h"

#include <stdexcept>

namespace kw {
namespace {
Dgemm dgemm = nullptr;
}

void set_dgemm(Dgemm function) { dgemm = function; }

void dot_products(const double* a, const double* b, int64_t rows, int64_t columns, int64_t d,
                  double* out, int64_t stride) {
  if (!dgemm) throw std::runtime_error("no BLAS was handed to the core");
  // BLAS counts by columns: row-major out = a b' is column-major out' = b a'.
  char transpose = 'T', plain = 'N';
  int m = int(columns), n = int(rows), k = int(d), ldc = int(stride), ld = int(d > 0 ? d : 1);
  double one = 1.0, zero = 0.0;
  dgemm(&transpose, &plain, &m, &n, &k, &one, const_cast<double*>(b), &ld, const_cast<double*>(a),
        &ld, &zero, out, &ldc);
}

}  // namespace kw

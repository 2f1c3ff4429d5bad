// Matrix products come from the BLAS that SciPy already carries; Python hands over the pointer.
#pragma once
#include <cstdint>

namespace kw {

using Dgemm = void (*)(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a,
                       int* lda, double* b, int* ldb, double* beta, double* c, int* ldc);

void set_dgemm(Dgemm function);

// out (rows x columns, leading dimension stride) = a (rows x d) times b' (columns x d), row-major.
void dot_products(const double* a, const double* b, int64_t rows, int64_t columns, int64_t d,
                  double* out, int64_t stride);

}  // namespace kw

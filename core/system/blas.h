// The BLAS and LAPACK of SciPy, whose function pointers Python passes to the core.
#pragma once
#include <cstdint>
#include <vector>

namespace kw {

using Dgemm = void (*)(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a,
                       int* lda, double* b, int* ldb, double* beta, double* c, int* ldc);
using Dgesv = void (*)(int* n, int* nrhs, double* a, int* lda, int* ipiv, double* b, int* ldb,
                       int* info);

void set_dgemm(Dgemm function);
void set_dgesv(Dgesv function);

// out (rows x columns, leading dimension stride) = a (rows x d) times b' (columns x d), row-major.
void dot_products(const double* a, const double* b, int64_t rows, int64_t columns, int64_t d,
                  double* out, int64_t stride);

// Solves A X = B by an LU factorisation with row pivots; A (k x k) and B (k x columns) are
// column-major. B becomes X and A its factors; k > 0. Returns false if a pivot is 0 or NaN.
bool solve_linear(std::vector<double>& A, std::vector<double>& B, int64_t k);

}  // namespace kw

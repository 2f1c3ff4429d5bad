// Kernel matrices and decision values between two sets of examples, without an engine. Every pair
// of examples is evaluated once; nothing is cached.
#pragma once
#include "kernels/program.h"

namespace kw {

// Copies the upper triangle of a matrix (n x n) to the lower one.
void mirror_upper(double* matrix, int64_t n);

// Moves row and column i of a matrix (n x n) to position order[i], for all i.
void reorder(double* matrix, IdSpan order);

// out (M x a.n x b.n): the kernel matrices. If a and b are the same side, each pair is evaluated
// once.
void evaluate(const Program& program, const Side& a, const Side& b, int threads, double* out);

// out (M x count x count): the kernel matrices of the examples `ids`.
void blocks(const Program& program, const Side& side, IdSpan ids, int threads, double* out);

// out (M x a.n): k_m(x_i, x_i).
void diagonal(const Program& program, const Side& a, double* out);

// out (M): coef' K_m coef; each pair of examples is evaluated once.
void quadratic(const Program& program, const Side& a, const double* coef, double* out);

// out (outputs x b.n): out[c, j] = sum_m weights[c, m] sum_i coef[c, i] k_m(a_i, b_j).
void decide(const Program& program, const Side& a, const Side& b, const double* coef,
            const double* weights, int64_t outputs, int threads, double* out);

// out (outputs x M x b.n): out[c, m, j] = sum_i coef[c, i] k_m(a_i, b_j).
void sum_each(const Program& program, const Side& a, const Side& b, const double* coef,
              int64_t outputs, int threads, double* out);

}  // namespace kw

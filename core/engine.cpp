#include "engine.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "evaluate.h"
#include "sweep.h"

namespace kw {
namespace {

// Values of a cached row: all planes, or none where recomputing is as cheap as fetching.
int64_t cached_values(const Program& program, const Side& side) {
  for (size_t s = 0; s < program.sources().size(); ++s)
    if (program.sources()[s]->worth_caching(*side.tables[s])) return program.n_planes() * side.n;
  return 0;
}

// How many rows of so many values are worked on at a time.
int64_t strip_of(int64_t values) {
  return std::max<int64_t>(1, kPackBytes / std::max<int64_t>(1, values * int64_t(sizeof(double))));
}

void mirror_lower(double* matrix, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) matrix[i * n + j] = matrix[j * n + i];
}

}  // namespace

Engine::Engine(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes, int threads)
    : program_((program->check(side), std::move(program))),
      side_(std::move(side)),
      cache_bytes_(cache_bytes),
      threads_(threads),
      outputs_(program_->n_kernels() * side_.n, 0.0),
      cache_(cached_values(*program_, side_), cache_bytes),
      linear_(*program_, side_, side_) {}

std::vector<const double*> Engine::find_rows(const int64_t* ids, int64_t count) {
  std::vector<const double*> rows(count);
  for (int64_t r = 0; r < count; ++r) rows[r] = cache_.find(ids[r]);
  return rows;
}

// What the cache knows of a pair, from either side, is taken from there; the rest, pairs of examples
// that are both unknown, is computed first. Only the upper triangle is worked on, a strip of rows at
// a time, so that many planes do not take much memory.
void Engine::block(const int64_t* ids, int64_t count, const double* weights, double* out) {
  if (linear_.block(ids, count, weights, threads_, out)) return;
  const std::vector<const double*> known = find_rows(ids, count);
  std::vector<int64_t> unknown, position(count, -1);
  for (int64_t r = 0; r < count; ++r)
    if (!known[r]) {
      position[r] = int64_t(unknown.size());
      unknown.push_back(ids[r]);
    }
  const int64_t u = int64_t(unknown.size()), planes = program_->n_planes();
  const Side rest = side_.subset(unknown.data(), u), work = side_.subset(ids, count);
  std::vector<int64_t> all(u);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<Group> groups = program_->groups_with(weights);
  std::fill_n(out, count * count, 0.0);

  std::vector<double> fresh;  // planes of the unknown rows [u0, u1)
  int64_t u0 = 0, u1 = 0;
  const auto fill_row = [&](int64_t r) {
    const int64_t n = count - r;
    std::vector<double> values(planes * n), stack(program_->stack_size() * n);
    Planes pointers(planes);
    for (int64_t p = 0; p < planes; ++p) {
      double* row = values.data() + p * n;
      pointers.set(p, row);
      const int64_t plane = p * side_.n;
      for (int64_t j = r; j < count; ++j) {
        if (known[r])
          row[j - r] = known[r][plane + ids[j]];
        else if (known[j])
          row[j - r] = known[j][plane + ids[r]];
        else
          row[j - r] = fresh[(p * (u1 - u0) + position[r] - u0) * u + position[j]];
      }
    }
    pointers.measure(n);
    program_->run(groups, pointers.view(work, work, r, r, n), stack.data(),
                  [&](int64_t m, const double* kernel) {
                    if (weights[m] != 0.0) simd().axpy(weights[m], kernel, out + r * count + r, n);
                  });
  };
  for (int64_t r0 = 0, rows; r0 < count; r0 += rows, u0 = u1) {
    rows = std::min(strip_of(planes * u), count - r0);
    u1 = u0 + std::count(known.begin() + r0, known.begin() + r0 + rows, nullptr);
    fresh.resize(planes * (u1 - u0) * u);
    sweep(
        *program_, rest, all.data() + u0, u1 - u0, rest, threads_,
        [&](int64_t r, const RowView& view, double*) {
          for (int64_t p = 0; p < planes; ++p)
            std::copy_n(view.planes[p], view.n, fresh.data() + (p * (u1 - u0) + r) * u + view.j0);
        },
        Tiles::kUpper);
    run_team(threads_, rows, [&](int64_t r, int) { fill_row(r0 + r); });
  }
  mirror_lower(out, count);
}

void Engine::blocks(const int64_t* ids, int64_t count, double* out) const {
  const Side work = side_.subset(ids, count);
  evaluate(*program_, work, work, threads_, out);
}

void Engine::diagonal(double* out) const { kw::diagonal(*program_, side_, out); }

void Engine::add(const int64_t* ids, int64_t count, const double* delta) {
  if (linear_.add(ids, delta, count, threads_, outputs_.data())) return;
  std::vector<int64_t> hits, misses;
  std::vector<double> hit_delta, miss_delta;
  std::vector<const double*> rows;
  cache_.start_turn();
  for (int64_t r = 0; r < count; ++r) {
    if (delta[r] == 0.0) continue;
    if (ids[r] < 0 || ids[r] >= side_.n) throw std::invalid_argument("no such example");
    if (const double* row = cache_.find(ids[r])) {
      cache_.keep(ids[r]);
      hits.push_back(ids[r]);
      hit_delta.push_back(delta[r]);
      rows.push_back(row);
    } else {
      misses.push_back(ids[r]);
      miss_delta.push_back(delta[r]);
    }
  }
  add_cached(hits, hit_delta, rows);
  add_missing(misses, miss_delta);
}

void Engine::accumulate(const RowView& view, double delta, double* stack) {
  program_->run(program_->groups(), view, stack, [&](int64_t m, const double* values) {
    simd().axpy(delta, values, outputs_.data() + m * side_.n + view.j0, view.n);
  });
}

void Engine::add_cached(const std::vector<int64_t>& ids, const std::vector<double>& delta,
                        const std::vector<const double*>& rows) {
  if (ids.empty()) return;
  const int64_t tiles = (side_.n + kTileColumns - 1) / kTileColumns;
  run_team(threads_, tiles, [&](int64_t t, int) {
    const int64_t j0 = t * kTileColumns, n = std::min(side_.n - j0, kTileColumns);
    std::vector<double> stack(program_->stack_size() * kTileColumns);
    Planes planes(program_->n_planes());
    for (size_t r = 0; r < ids.size(); ++r) {
      for (int64_t p = 0; p < program_->n_planes(); ++p) planes.set(p, rows[r] + p * side_.n + j0);
      planes.measure(n);
      accumulate(planes.view(side_, side_, ids[r], j0, n), delta[r], stack.data());
      check_interrupt();
    }
  });
}

void Engine::add_missing(const std::vector<int64_t>& ids, const std::vector<double>& delta) {
  std::vector<double*> kept(ids.size());
  for (size_t r = 0; r < ids.size(); ++r) kept[r] = cache_.insert(ids[r]);
  try {
    sweep(*program_, side_, ids.data(), int64_t(ids.size()), side_, threads_,
          [&](int64_t r, const RowView& view, double* stack) {
            if (kept[r])
              for (int64_t p = 0; p < program_->n_planes(); ++p)
                std::copy_n(view.planes[p], view.n, kept[r] + p * side_.n + view.j0);
            accumulate(view, delta[r], stack);
          });
  } catch (...) {  // rows that were not filled must not be found
    for (int64_t id : ids) cache_.drop(id);
    throw;
  }
}

std::unique_ptr<Engine> Engine::subset(const int64_t* ids, int64_t count) const {
  auto smaller =
      std::make_unique<Engine>(program_, side_.subset(ids, count), cache_bytes_, threads_);
  for (int64_t m = 0; m < n_kernels(); ++m)
    for (int64_t i = 0; i < count; ++i)
      smaller->outputs_[m * count + i] = outputs_[m * side_.n + ids[i]];
  std::vector<int64_t> position(side_.n, -1);
  for (int64_t i = 0; i < count; ++i) position[ids[i]] = i;
  cache_.oldest_first([&](int64_t example, const double* row) {
    if (position[example] < 0) return;
    smaller->cache_.start_turn();
    double* kept = smaller->cache_.insert(position[example]);
    for (int64_t p = 0; p < program_->n_planes(); ++p)
      for (int64_t i = 0; i < count; ++i) kept[p * count + i] = row[p * side_.n + ids[i]];
  });
  return smaller;
}

}  // namespace kw

#include "engine/shared_rows.h"

namespace kw {
namespace {

// Number of values of a cached row: all planes, or 0 if computing a row is as cheap as reading it,
// such as dot products of 16 columns.
int64_t cached_values(const Program& program, const Side& side) {
  for (size_t s = 0; s < program.sources().size(); ++s)
    if (program.sources()[s]->reads(*side.tables[s]) > 1.0) return program.n_planes() * side.n;
  return 0;
}

}  // namespace

SharedRows::SharedRows(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes,
                       int threads)
    : program_((program->check(side, side), std::move(program))),
      side_(std::move(side)),
      cache_bytes_(cache_bytes),
      threads_(threads),
      cache_(cached_values(*program_, side_), cache_bytes) {}

double SharedRows::reads() const {
  double reads = 0.0;
  for (size_t s = 0; s < side_.tables.size(); ++s)
    reads +=
        double(program_->sources()[s]->planes()) * program_->sources()[s]->reads(*side_.tables[s]);
  return reads;
}

// Reads are by cache lines: gathering one value costs as much as reading all values up to the next
// one, at most a line.
bool SharedRows::gathers(int64_t count) const {
  constexpr double kLine = 8.0;  // values of a cache line of 64 bytes
  const double spacing = std::min(kLine, double(side_.n) / double(std::max<int64_t>(count, 1)));
  return reads() > spacing * double(program_->n_planes());
}

bool SharedRows::keeps_rows(int64_t count) const {
  // Number of rows from which on cheap values are not cached.
  constexpr int64_t kMany = 4096;
  constexpr double kCheap = 4.0;  // cost of a pair, in units of reading one cached value
  return count < kMany || reads() > kCheap;
}

std::vector<int64_t> SharedRows::cached_first(IdSpan ids) const {
  std::vector<int64_t> order = all_ids(int64_t(ids.size()));
  if (gathers(int64_t(ids.size())))
    std::stable_partition(order.begin(), order.end(),
                          [&](int64_t r) { return cache_.contains(ids[r]); });
  return order;
}

std::unique_ptr<SharedRows> SharedRows::subset(IdSpan ids) {
  const int64_t count = int64_t(ids.size());
  cache_.limit(cache_bytes_ / 2);
  auto smaller =
      std::make_unique<SharedRows>(program_, side_.subset(ids), cache_bytes_ / 2, threads_);
  std::vector<int64_t> position(side_.n, -1);
  for (int64_t i = 0; i < count; ++i) position[ids[i]] = i;
  cache_.oldest_first([&](int64_t example, const double* row) {
    if (position[example] < 0) return;
    smaller->cache_.start_pass();
    double* kept = smaller->cache_.insert(position[example]);
    for (int64_t p = 0; kept && p < program_->n_planes(); ++p)
      for (int64_t i = 0; i < count; ++i) kept[p * count + i] = row[p * side_.n + ids[i]];
  });
  return smaller;
}

}  // namespace kw

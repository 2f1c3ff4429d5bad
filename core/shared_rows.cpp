#include "shared_rows.h"

namespace kw {
namespace {

// Values of a cached row: all planes, or none where recomputing is as cheap as fetching.
int64_t cached_values(const Program& program, const Side& side) {
  for (size_t s = 0; s < program.sources().size(); ++s)
    if (program.sources()[s]->worth_caching(*side.tables[s])) return program.n_planes() * side.n;
  return 0;
}

}  // namespace

SharedRows::SharedRows(std::shared_ptr<const Program> program, Side side, int64_t cache_bytes,
                       int threads)
    : program_((program->check(side), std::move(program))),
      side_(std::move(side)),
      cache_bytes_(cache_bytes),
      threads_(threads),
      cache_(cached_values(*program_, side_), cache_bytes) {}

int64_t SharedRows::strip_of(int64_t values) {
  return std::max<int64_t>(1, kPackBytes / std::max<int64_t>(1, values * int64_t(sizeof(double))));
}

std::vector<double> SharedRows::planes_of(const Side& rest, int64_t u0, int64_t u1) const {
  const int64_t rows = u1 - u0, planes = program_->n_planes();
  std::vector<double> values(planes * rows * rest.n);
  std::vector<int64_t> ids(rows);
  std::iota(ids.begin(), ids.end(), u0);
  sweep(
      *program_, rest, ids.data(), rows, rest, threads_,
      [&](int64_t r, const RowView& view, double*, int) {
        for (int64_t p = 0; p < planes; ++p)
          std::copy_n(view.planes[p], view.n, values.data() + (p * rows + r) * rest.n + view.j0);
      },
      Pairs{.upper = true});
  return values;
}

std::unique_ptr<SharedRows> SharedRows::subset(const int64_t* ids, int64_t count) {
  cache_.limit(cache_bytes_ / 2);
  auto smaller =
      std::make_unique<SharedRows>(program_, side_.subset(ids, count), cache_bytes_ / 2, threads_);
  std::vector<int64_t> position(side_.n, -1);
  for (int64_t i = 0; i < count; ++i) position[ids[i]] = i;
  cache_.oldest_first([&](int64_t example, const double* row) {
    if (position[example] < 0) return;
    smaller->cache_.start_turn();
    double* kept = smaller->cache_.insert(position[example]);
    for (int64_t p = 0; kept && p < program_->n_planes(); ++p)
      for (int64_t i = 0; i < count; ++i) kept[p * count + i] = row[p * side_.n + ids[i]];
  });
  return smaller;
}

}  // namespace kw

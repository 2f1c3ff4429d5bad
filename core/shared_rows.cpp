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

std::vector<double> SharedRows::pairs_of(const std::vector<int64_t>& unknown) {
  const int64_t u = int64_t(unknown.size()), planes = program_->n_planes();
  std::vector<double> values(planes * u * u);
  const Side side = side_.subset(unknown.data(), u);
  std::vector<int64_t> all(u);
  std::iota(all.begin(), all.end(), 0);
  sweep(
      *program_, side, all.data(), u, side, threads_,
      [&](int64_t r, const RowView& view, double*) {
        for (int64_t p = 0; p < planes; ++p)
          std::copy_n(view.planes[p], view.n, values.data() + (p * u + r) * u + view.j0);
      },
      Tiles::kUpper);
  return values;
}

std::unique_ptr<SharedRows> SharedRows::subset(const int64_t* ids, int64_t count) const {
  auto smaller =
      std::make_unique<SharedRows>(program_, side_.subset(ids, count), cache_bytes_, threads_);
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

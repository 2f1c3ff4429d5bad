#include "engine/class_pairs.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "engine/sweep.h"
#include "solvers/conjugates.h"

namespace kw {
namespace {

// Tolerance of a subproblem, relative to the largest KKT violation.
constexpr double kSubproblemAccuracy = 0.1;
// Maximum number of SMO steps of a working set: so many per example, and so many more.
constexpr int64_t kSmoPerExample = 50, kLeastSmo = 1000;
// The constant model counts as optimal if P0 - D is below this fraction of P0.
constexpr double kNoImprovement = 1e-10;
// KKT violation that is due to rounding: a pair with a smaller one is not improved further.
constexpr double kLeastTolerance = 1e-13;
constexpr int64_t kNormParts = 16;  // parts of the pairs, each with separate sums

// The loss at output f, computed from the conjugate: the maximum over a of -a f - conj_i(a). The
// term must have no entropy.
double loss_at(const DualTerm& term, int64_t i, double f) {
  const double slope = f + term.lin[i], lo = term.lo[i], hi = term.hi[i];
  const auto value = [&](double a) {
    return -a * slope - term.eps[i] * std::abs(a) - 0.5 * term.curv[i] * a * a;
  };
  double best = value(std::clamp(0.0, lo, hi));
  if (std::isfinite(lo)) best = std::max(best, value(lo));
  if (std::isfinite(hi)) best = std::max(best, value(hi));
  if (term.curv[i] > 0.0)
    for (const double eps : {term.eps[i], -term.eps[i]})
      best = std::max(best, value(std::clamp(-(slope + eps) / term.curv[i], lo, hi)));
  return best;
}

DualTerm shifted(const DualTerm& term, int64_t first) {
  return {term.lin + first, term.eps + first, term.curv + first,
          term.ent + first, term.lo + first,  term.hi + first};
}

// The dual terms of the examples of a working set.
class WorkingTerm {
 public:
  WorkingTerm(const DualTerm& term, const std::vector<int64_t>& ids) {
    const double* const parts[] = {term.lin, term.eps, term.curv, term.ent, term.lo, term.hi};
    const int64_t q = int64_t(ids.size());
    values_.reserve(6 * q);
    for (const double* part : parts)
      for (const int64_t i : ids) values_.push_back(part[i]);
    const double* v = values_.data();
    term_ = {v, v + q, v + 2 * q, v + 3 * q, v + 4 * q, v + 5 * q};
  }
  const DualTerm& term() const { return term_; }

 private:
  std::vector<double> values_;
  DualTerm term_;
};

}  // namespace

// Allocates rows in large blocks, which are returned to the system when they are freed. Rows
// allocated one by one would stay in the heap.
class RowMemory {
 public:
  double* take(int64_t n) {
    if (used_ + n > size_) {
      size_ = std::max(n, kBlock);
      blocks_.push_back(std::make_unique_for_overwrite<double[]>(size_));
      used_ = 0;
    }
    used_ += n;
    return blocks_.back().get() + used_ - n;
  }
  void clear() {
    blocks_.clear();
    used_ = size_ = 0;
  }

 private:
  static constexpr int64_t kBlock = int64_t{1} << 18;  // 2 MB
  std::vector<std::unique_ptr<double[]>> blocks_;
  int64_t used_ = 0, size_ = 0;
};

// Kernel rows inside a class, which serve all pairs of that class and all workers. They are copied
// in and out under a lock. Whether a row is cached changes only the time: values are always the
// same.
class ClassRows {
 public:
  ClassRows(const std::vector<Side>& classes, int64_t bytes)
      : rows_(classes.size()), capacity_(bytes / int64_t(sizeof(double))) {
    for (size_t c = 0; c < rows_.size(); ++c) rows_[c].of.resize(classes[c].n, nullptr);
  }

  // Counts a use of classes a and b. If the memory is full, classes not used since are dropped.
  int64_t use(int64_t a, int64_t b) {
    std::lock_guard lock(mutex_);
    rows_[a].used = rows_[b].used = ++uses_;
    return uses_;
  }

  // Copies the cached rows of the examples `ids` of class c to to(i); returns the other ids.
  template <typename To>
  std::vector<int64_t> copy(int64_t c, const std::vector<int64_t>& ids, To&& to) {
    std::vector<int64_t> missing;
    std::lock_guard lock(mutex_);
    const std::vector<double*>& rows = rows_[c].of;
    for (const int64_t i : ids)
      if (rows[i])
        std::copy_n(rows[i], rows.size(), to(i));
      else
        missing.push_back(i);
    return missing;
  }

  // Caches the rows from(i) as long as they fit. `use`: what `use` returned for this class.
  template <typename From>
  void keep(int64_t c, const std::vector<int64_t>& ids, int64_t use, From&& from) {
    std::lock_guard lock(mutex_);
    const int64_t n = int64_t(rows_[c].of.size());
    for (const int64_t i : ids) {
      if (rows_[c].of[i]) continue;  // another worker was faster
      if (!has_room(n, use)) return;
      double* row = rows_[c].memory.take(n);
      std::copy_n(from(i), n, row);
      rows_[c].of[i] = row;
      used_ += n;
    }
  }

 private:
  struct OfClass {
    std::vector<double*> of;  // by example, or null
    RowMemory memory;
    int64_t used = 0;  // number of the last use
  };

  // Returns whether a row of n values fits, after dropping classes whose last use is before `use`.
  bool has_room(int64_t n, int64_t use) {
    for (OfClass& rows : rows_) {
      if (used_ + n <= capacity_) break;
      if (rows.used >= use) continue;
      used_ -= int64_t(rows.of.size()) *
               (int64_t(rows.of.size()) - std::count(rows.of.begin(), rows.of.end(), nullptr));
      std::fill(rows.of.begin(), rows.of.end(), nullptr);
      rows.memory.clear();
    }
    return used_ + n <= capacity_;
  }

  std::mutex mutex_;
  std::vector<OfClass> rows_;
  const int64_t capacity_;  // in values
  int64_t used_ = 0, uses_ = 0;
};

// The kernel rows of one worker over both classes of the present pair. Their number must not depend
// on the number of workers: it bounds working sets, and so changes results.
class PairRows {
 public:
  PairRows(const ClassPairs& all, ClassRows& own)
      : all_(all),
        own_(own),
        capacity_(
            std::max<int64_t>(2, all.cache_bytes_ / (2 * std::max<int64_t>(all.widest_, 1) * 8))) {}

  void start(const ClassPairs::Pair& pair) {
    pair_ = &pair;
    use_ = own_.use(pair.a, pair.b);
    rows_.assign(pair.size(), nullptr);
    used_ = 0;
  }

  // Computes the rows of the examples `ids` of the pair, at most capacity() of them.
  void need(const std::vector<int64_t>& ids) {
    std::vector<int64_t> missing;
    for (const int64_t i : ids)
      if (!rows_[i]) missing.push_back(i);
    if (used_ + int64_t(missing.size()) > capacity_) {
      std::fill(rows_.begin(), rows_.end(), nullptr);
      used_ = 0;
      missing = ids;
    }
    std::vector<int64_t> of_a, of_b;  // positions inside their class
    for (const int64_t i : missing) {
      if (used_ == int64_t(pool_.size())) pool_.push_back(memory_.take(all_.widest_));
      rows_[i] = pool_[used_++];
      if (i < pair_->n_a)
        of_a.push_back(i);
      else
        of_b.push_back(i - pair_->n_a);
    }
    const int64_t n_a = pair_->n_a;
    fill_own(pair_->a, of_a, 0);
    fill_own(pair_->b, of_b, n_a);
    const Side &a = all_.classes_[pair_->a], &b = all_.classes_[pair_->b];
    all_.each_row(scratch_, a, of_a, b,
                  [&](int64_t r, int64_t j0, const double* values, int64_t n) {
                    std::copy_n(values, n, rows_[of_a[r]] + n_a + j0);
                  });
    all_.each_row(scratch_, b, of_b, a,
                  [&](int64_t r, int64_t j0, const double* values, int64_t n) {
                    std::copy_n(values, n, rows_[n_a + of_b[r]] + j0);
                  });
  }

  const double* row(int64_t i) const { return rows_[i]; }
  int64_t capacity() const { return capacity_; }

 private:
  // Fills the part of rows that lies inside the class c of their examples.
  void fill_own(int64_t c, const std::vector<int64_t>& ids, int64_t offset) {
    const auto inside = [&](int64_t i) { return rows_[offset + i] + offset; };
    const std::vector<int64_t> missing = own_.copy(c, ids, inside);
    const Side& side = all_.classes_[c];
    // Values must not depend on which rows are cached, so that calls have a fixed number of rows.
    const int64_t count = int64_t(missing.size());
    const int64_t most = all_.rows_at_once_ > 1 ? all_.rows_at_once_ : count;
    for (int64_t first = 0; first < count; first += most) {
      const int64_t last = std::min(count, first + most);
      std::vector<int64_t> rows(missing.begin() + first, missing.begin() + last);
      rows.resize(most, rows.back());
      all_.each_row(scratch_, side, rows, side,
                    [&](int64_t r, int64_t j0, const double* values, int64_t n) {
                      std::copy_n(values, n, inside(rows[r]) + j0);
                    });
    }
    own_.keep(c, missing, use_, inside);
  }

  const ClassPairs& all_;
  ClassRows& own_;
  const ClassPairs::Pair* pair_ = nullptr;
  // rows_: by example of the pair, or null; pool_: all rows allocated.
  std::vector<double*> rows_, pool_;
  RowMemory memory_;
  const int64_t capacity_;
  int64_t used_ = 0, use_ = 0;
  ClassPairs::Scratch scratch_;
};

namespace {

// The problem of one pair of classes, solved by decomposition (working sets).
class PairProblem {
 public:
  PairProblem(PairRows& rows, const DualTerm& term, int64_t q, double constant, double* alpha,
              double* outputs)
      : rows_(rows),
        term_(term),
        conj_(term_),
        q_(q),
        constant_(constant),
        alpha_(alpha),
        F_(outputs),
        up_(q),
        down_(q) {
    for (int64_t i = 0; i < q; ++i) refresh(i);
  }

  // Solves the problem and returns its relative duality gap.
  double solve(const PairTarget& target) {
    from_scratch();
    double tolerance = kInfinity;
    for (int64_t sets = 0;; ++sets) {
      const double violation = largest_violation();
      if (sets == 0) tolerance = kSubproblemAccuracy * violation;
      if (!(violation > tolerance)) {
        const double found = gap();
        if (found <= target.gap || !(violation > kLeastTolerance)) break;
        tolerance = violation * std::clamp(0.5 * target.gap / found, 0.05, 0.5);
      }
      if (sets == target.most_sets || !(violation < kInfinity)) break;
      const int64_t most = std::min(target.working_set, rows_.capacity());
      improve(select(most, std::min(target.fresh, most)), violation);
    }
    from_scratch();
    largest_violation();
    return gap();
  }

 private:
  void refresh(int64_t i) {
    up_[i] = conj_.slope_up(i, alpha_[i]);
    down_[i] = conj_.slope_down(i, alpha_[i]);
  }

  // Returns the largest violation of the KKT conditions; places the bias in its middle.
  double largest_violation() {
    const PairChoice choice = simd().choose(F_, up_.data(), down_.data(), q_);
    middle_ = 0.5 * (choice.max_down + choice.min_up);
    if (!std::isfinite(middle_)) middle_ = 0.0;
    return choice.max_down - choice.min_up;
  }

  // The relative duality gap, with a nearly optimal bias.
  double gap() const {
    double losses = 0.0, conjugates = 0.0, norm = 0.0;
    for (int64_t i = 0; i < q_; ++i) {
      losses += loss_at(term_, i, F_[i] - middle_);
      const double a = alpha_[i];
      if (a == 0.0) continue;
      conjugates += term_.lin[i] * a + term_.eps[i] * std::abs(a) + 0.5 * term_.curv[i] * a * a;
      norm += a * F_[i];
    }
    const double primal = losses + 0.5 * norm, dual = -conjugates - 0.5 * norm;
    if (constant_ - dual <= kNoImprovement * constant_)
      return 0.0;  // the constant model is optimal
    const double scale = std::min(std::abs(primal), constant_ - dual);
    return scale > 0.0 ? std::max(primal - dual, 0.0) / scale : kInfinity;
  }

  void add(const std::vector<int64_t>& ids, const std::vector<double>& delta) {
    size_t r = 0;
    for (; r + 4 <= ids.size(); r += 4) {
      const double* const rows[] = {rows_.row(ids[r]), rows_.row(ids[r + 1]), rows_.row(ids[r + 2]),
                                    rows_.row(ids[r + 3])};
      simd().axpy4(delta.data() + r, rows, F_, q_);
    }
    for (; r < ids.size(); ++r) simd().axpy(delta[r], rows_.row(ids[r]), F_, q_);
  }

  // Recomputes the outputs from alpha, which removes the rounding errors of earlier updates.
  void from_scratch() {
    std::fill_n(F_, q_, 0.0);
    std::vector<int64_t> ids;
    std::vector<double> values;
    const auto flush = [&] {
      rows_.need(ids);
      add(ids, values);
      ids.clear();
      values.clear();
    };
    for (int64_t i = 0; i < q_; ++i) {
      if (alpha_[i] == 0.0) continue;
      ids.push_back(i);
      values.push_back(alpha_[i]);
      if (int64_t(ids.size()) == std::min(rows_.capacity(), kTileColumns)) flush();
    }
    flush();
  }

  // Selects a working set. First all examples with a cached row that are free or violate the KKT
  // conditions, since they need no new kernel values; then the worst violators of both sides among
  // the others.
  std::vector<int64_t> select(int64_t most, int64_t fresh) {
    std::vector<int64_t> known, rising, falling;
    for (int64_t i = 0; i < q_; ++i) {
      const bool rises = up_[i] + F_[i]<middle_, falls = down_[i] + F_[i]> middle_;
      if (rows_.row(i) && (rises || falls || (alpha_[i] > term_.lo[i] && alpha_[i] < term_.hi[i])))
        known.push_back(i);
      else if (rises)
        rising.push_back(i);
      else if (falls)
        falling.push_back(i);
    }
    const bool first = known.empty();
    const auto excess = [&](int64_t i) {
      return -std::max(down_[i] + F_[i] - middle_, middle_ - up_[i] - F_[i]);
    };
    take(known, most - fresh, false, excess);
    take(rising, fresh / 2, first, excess);
    take(falling, fresh / 2, first, excess);
    known.insert(known.end(), rising.begin(), rising.end());
    known.insert(known.end(), falling.begin(), falling.end());
    std::sort(known.begin(), known.end());
    return known;
  }

  // Keeps the examples with the smallest values. In the first iteration all values are equal; then
  // evenly spaced examples are kept.
  template <typename Value>
  static void take(std::vector<int64_t>& ids, int64_t count, bool spaced, Value&& value) {
    const int64_t n = int64_t(ids.size());
    if (n <= count) return;
    if (spaced)
      for (int64_t k = 0; k < count; ++k) ids[k] = ids[k * n / count];
    else
      std::nth_element(ids.begin(), ids.begin() + count, ids.end(), [&](int64_t i, int64_t j) {
        const double one = value(i), two = value(j);
        return one < two || (one == two && i < j);
      });
    ids.resize(count);
  }

  void improve(const std::vector<int64_t>& work, double violation) {
    const int64_t w = int64_t(work.size());
    rows_.need(work);
    std::vector<double> kernel(w * w), alpha(w), F(w);
    for (int64_t r = 0; r < w; ++r) {
      const double* row = rows_.row(work[r]);
      for (int64_t s = 0; s < w; ++s) kernel[r * w + s] = row[work[s]];
      alpha[r] = alpha_[work[r]];
      F[r] = F_[work[r]];
    }
    const WorkingTerm term(term_, work);
    solve_pairs(kernel.data(), term.term(), kSubproblemAccuracy * violation,
                kSmoPerExample * w + kLeastSmo, alpha, F.data());
    std::vector<int64_t> changed;
    std::vector<double> delta;
    for (int64_t r = 0; r < w; ++r)
      if (alpha[r] != alpha_[work[r]]) {
        changed.push_back(work[r]);
        delta.push_back(alpha[r] - alpha_[work[r]]);
        alpha_[work[r]] = alpha[r];
        refresh(work[r]);
      }
    add(changed, delta);
  }

  PairRows& rows_;
  const DualTerm term_;
  const Conjugates conj_;
  const int64_t q_;
  const double constant_;
  double *alpha_, *F_;
  std::vector<double> up_, down_;
  double middle_ = 0.0;
};

}  // namespace

ClassPairs::ClassPairs(std::shared_ptr<const Program> program, const Side& side,
                       std::vector<int64_t> starts, int64_t cache_bytes, int threads, bool combine)
    : program_(std::move(program)), cache_bytes_(cache_bytes), threads_(threads) {
  program_->check(side, side);
  const int64_t count = int64_t(starts.size()) - 1;
  for (int64_t c = 0; c < count; ++c) {
    std::vector<int64_t> ids(starts[c + 1] - starts[c]);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = starts[c] + int64_t(i);
    classes_.push_back(side.subset(ids));
  }
  const auto& sources = program_->sources();
  for (size_t s = 0; s < sources.size(); ++s)
    rows_at_once_ = std::max(rows_at_once_, sources[s]->rows_at_once(*side.tables[s]));
  int64_t first = 0;
  for (int64_t a = 0; a < count; ++a)
    for (int64_t b = a + 1; b < count; ++b) {
      pairs_.push_back({a, b, first, classes_[a].n, classes_[b].n});
      first += pairs_.back().size();
      widest_ = std::max(widest_, pairs_.back().size());
    }
  if (combine) {
    int64_t plane = 0;
    for (size_t s = 0; s < program_->sources().size(); ++s) {
      const Quantity& quantity = *program_->sources()[s];
      for (int64_t p = 0; p < quantity.planes(); ++p)
        profiles_.emplace_back(*program_, plane++, quantity.bound(*side.tables[s]),
                               quantity.both_signs());
    }
  }
}

void ClassPairs::weigh(const double* weights) {
  weights_.assign(weights, weights + n_kernels());
  groups_ = program_->groups_with(weights);
  for (Profile& profile : profiles_) profile.weigh(*program_, weights);
}

void ClassPairs::combined_row(const RowView& view, double* stack, double* values) const {
  if (!profiles_.empty()) {
    for (size_t p = 0; p < profiles_.size(); ++p) {
      const auto loop = p == 0 ? simd().cells->set : simd().cells->add;
      loop(view.planes[p], profiles_[p].grid(), profiles_[p].coefficients(), 1.0, values, view.n);
    }
    return;
  }
  std::fill_n(values, view.n, 0.0);
  program_->run(groups_, view, stack, [&](int64_t m, const double* kernel) {
    if (weights_[m] != 0.0) simd().axpy(weights_[m], kernel, values, view.n);
  });
}

template <typename Visit>
void ClassPairs::each_row(Scratch& scratch, const Side& rows, IdSpan ids, const Side& columns,
                          Visit&& visit) const {
  if (ids.empty()) return;
  const int64_t count = int64_t(ids.size()), planes = program_->n_planes();
  const int64_t fitting = kTileValues / (kTileRows * std::max<int64_t>(planes, 1));
  const int64_t width = std::clamp<int64_t>(fitting / 16 * 16, 16, kTileColumns);
  scratch.tile.resize(planes * kTileRows * width);
  scratch.stack.resize(program_->stack_size() * width);
  const PackedRows packed(*program_, rows, ids, columns);
  Planes values(planes);
  for (int64_t j0 = 0; j0 < columns.n; j0 += width)
    for (int64_t r0 = 0; r0 < count; r0 += kTileRows) {
      const int64_t j1 = std::min(columns.n, j0 + width), r1 = std::min(count, r0 + kTileRows);
      packed.fill(r0, r1, j0, j1, scratch.tile.data());
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t p = 0; p < planes; ++p)
          values.set(p, scratch.tile.data() + (p * (r1 - r0) + r - r0) * (j1 - j0));
        alignas(64) double kernel[kTileColumns];
        combined_row(values.view(rows, columns, ids[r], j0, j1 - j0), scratch.stack.data(), kernel);
        visit(r, j0, kernel, j1 - j0);
      }
      check_interrupt();
    }
}

void ClassPairs::solve(IdSpan chosen, const DualTerm& term, const double* constants,
                       const PairTarget& target, double* alpha, double* outputs,
                       double* gaps) const {
  ClassRows own(classes_, cache_bytes_ / 2);
  std::vector<std::unique_ptr<PairRows>> workers(threads_);
  run_team(threads_, int64_t(chosen.size()), [&](int64_t k, int worker) {
    if (!workers[worker]) workers[worker] = std::make_unique<PairRows>(*this, own);
    const Pair& pair = pairs_[chosen[k]];
    PairRows& rows = *workers[worker];
    rows.start(pair);
    PairProblem problem(rows, shifted(term, pair.first), pair.size(), constants[chosen[k]],
                        alpha + pair.first, outputs + pair.first);
    gaps[k] = problem.solve(target);
  });
}

void ClassPairs::outputs(const double* alpha, double* out) const {
  run_team(threads_, n_pairs(), [&](int64_t p, int) {
    const Pair& pair = pairs_[p];
    std::fill_n(out + pair.first, pair.size(), 0.0);
    Scratch scratch;
    const auto add = [&](int64_t c, int64_t from, int64_t n, int64_t other, int64_t to) {
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < n; ++i)
        if (alpha[pair.first + from + i] != 0.0) ids.push_back(i);
      each_row(scratch, classes_[c], ids, classes_[other],
               [&](int64_t r, int64_t j0, const double* values, int64_t count) {
                 simd().axpy(alpha[pair.first + from + ids[r]], values, out + pair.first + to + j0,
                             count);
               });
    };
    add(pair.a, 0, pair.n_a, pair.a, 0);
    add(pair.a, 0, pair.n_a, pair.b, pair.n_a);
    add(pair.b, pair.n_a, pair.n_b, pair.a, 0);
    add(pair.b, pair.n_a, pair.n_b, pair.b, pair.n_a);
  });
}

void ClassPairs::block(int64_t number, IdSpan ids, double* out) const {
  const Pair& pair = pairs_[number];
  const int64_t count = int64_t(ids.size());
  const int64_t of_a = std::lower_bound(ids.begin(), ids.end(), pair.n_a) - ids.begin();
  std::vector<int64_t> of_b(ids.begin() + of_a, ids.end());
  for (int64_t& id : of_b) id -= pair.n_a;
  const Side a = classes_[pair.a].subset(ids.first(of_a)), b = classes_[pair.b].subset(of_b);
  Scratch scratch;
  const auto fill = [&](const Side& rows, const Side& columns, double* corner) {
    each_row(scratch, rows, all_ids(rows.n), columns,
             [&](int64_t r, int64_t j0, const double* values, int64_t n) {
               std::copy_n(values, n, corner + r * count + j0);
             });
  };
  fill(a, a, out);
  fill(a, b, out + of_a);
  fill(b, b, out + of_a * count + of_a);
  for (int64_t r = of_a; r < count; ++r)
    for (int64_t s = 0; s < of_a; ++s) out[r * count + s] = out[s * count + r];
}

void ClassPairs::add_norms(const RowView& view, double* stack, double factor, const double* others,
                           bool diagonal, Norms& norms) const {
  const int64_t once = diagonal ? 1 : 0;  // a pair of examples off the diagonal counts twice
  for (size_t p = 0; p < profiles_.size(); ++p) {
    const auto moments = simd().cells->moments;
    moments(view.planes[p], profiles_[p].grid(), factor, others, norms.moments[p].data(), once);
    moments(view.planes[p] + once, profiles_[p].grid(), 2.0 * factor, others + once,
            norms.moments[p].data(), view.n - once);
  }
  if (!profiles_.empty()) return;
  program_->run(program_->groups(), view, stack, [&](int64_t m, const double* values) {
    const double twice = 2.0 * simd().dot(others, values, view.n);
    norms.sums[m] += factor * (diagonal ? twice - others[0] * values[0] : twice);
  });
}

void ClassPairs::add_norms(const Pair& pair, const double* alpha, Norms& norms) const {
  struct Support {
    Side side;
    std::vector<double> alpha;
  };
  const auto support = [&](int64_t c, int64_t from) {
    std::vector<int64_t> ids;
    std::vector<double> values;
    for (int64_t i = 0; i < classes_[c].n; ++i)
      if (alpha[from + i] != 0.0) {
        ids.push_back(i);
        values.push_back(alpha[from + i]);
      }
    return Support{classes_[c].subset(ids), std::move(values)};
  };
  const Support a = support(pair.a, pair.first), b = support(pair.b, pair.first + pair.n_a);
  const auto block = [&](const Support& rows, const Support& columns, bool upper) {
    const std::vector<int64_t> ids = all_ids(rows.side.n);
    sweep(
        {*program_, rows.side, ids, columns.side, 1},
        [&](int64_t r, const RowView& view, double* stack, int64_t) {
          add_norms(view, stack, rows.alpha[r], columns.alpha.data() + view.j0,
                    upper && view.j0 == r, norms);
        },
        Pairs{.upper = upper});
  };
  block(a, a, true);
  block(b, b, true);
  block(a, b, false);
}

void ClassPairs::quadratic(const double* alpha, double* out) const {
  // The number of parts does not depend on the number of threads: otherwise the rounding would.
  const int64_t count = std::min(n_pairs(), kNormParts);
  std::vector<Norms> parts(count);
  run_team(threads_, count, [&](int64_t part, int) {
    Norms& norms = parts[part];
    norms.sums.assign(n_kernels(), 0.0);
    for (const Profile& profile : profiles_)
      norms.moments.emplace_back(profile.grid().cells() * kTerms, 0.0);
    for (int64_t p = part; p < n_pairs(); p += count) add_norms(pairs_[p], alpha, norms);
  });
  std::fill_n(out, n_kernels(), 0.0);
  for (const Norms& norms : parts) simd().add(norms.sums.data(), out, n_kernels());
  for (size_t p = 0; p < profiles_.size(); ++p) {
    Buffer<double>& total = parts[0].moments[p];
    for (int64_t part = 1; part < count; ++part)
      simd().add(parts[part].moments[p].data(), total.data(), int64_t(total.size()));
    profiles_[p].integrate(*program_, total.data(), out);
  }
}

}  // namespace kw

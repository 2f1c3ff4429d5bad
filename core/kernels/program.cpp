#include "kernels/program.h"

#include <algorithm>
#include <stdexcept>

namespace kw {
namespace {

int effect_on_depth(Op op) {
  switch (op) {
    case Op::Copy:
    case Op::Power:
    case Op::Exp:
    case Op::Dup:
      return 1;
    case Op::Mul:
    case Op::Add:
    case Op::Out:
      return -1;
    default:
      return 0;
  }
}

int needed_depth(Op op) {
  switch (op) {
    case Op::Copy:
    case Op::Power:
    case Op::Exp:
      return 0;
    case Op::Mul:
    case Op::Add:
      return 2;
    default:
      return 1;
  }
}

bool reads_slot(Op op) { return op == Op::Unit || op == Op::Center || op == Op::Absent; }

bool reads_plane(Op op) { return op == Op::Copy || op == Op::Power || op == Op::Exp; }

}  // namespace

int32_t Program::source(const std::string& kind) { return source(make_quantity(kind)); }

int32_t Program::source(std::shared_ptr<const Quantity> quantity) {
  const auto plane = int32_t(n_planes_);
  n_planes_ += quantity->planes();
  sources_.push_back(std::move(quantity));
  return plane;
}

void Program::push(Op op, int32_t arg, double a, double b, int32_t degree) {
  if (depth_ < needed_depth(op)) throw std::invalid_argument("program: the stack is too short");
  if (reads_plane(op) && (arg < 0 || arg >= n_planes_))
    throw std::invalid_argument("program: no such source");
  code_.push_back({op, arg, degree, a, b});
  depth_ += effect_on_depth(op);
  deepest_ = std::max(deepest_, depth_);
  if (reads_slot(op)) n_slots_ = std::max<int64_t>(n_slots_, arg + 1);
  if (op == Op::Out) ++n_kernels_;
}

void Program::end_group() {
  const int64_t begin = groups_.empty() ? 0 : groups_.back().end;
  const int64_t first = groups_.empty() ? 0 : groups_.back().last;
  if (depth_ != 0) throw std::invalid_argument("program: a group must leave an empty stack");
  groups_.push_back({begin, int64_t(code_.size()), first, n_kernels_});
}

void Program::check(const Side& side) const {
  if (side.tables.size() != sources_.size() || int64_t(side.vectors.size()) < n_slots_)
    throw std::invalid_argument("the examples lack tables or normalisations that the kernels read");
}

void Program::check(const Side& a, const Side& b) const {
  check(a);
  check(b);
  for (size_t s = 0; s < sources_.size(); ++s) sources_[s]->check(*a.tables[s], *b.tables[s]);
}

int64_t Program::plane_of(const Group& group) const {
  int64_t plane = -1;
  for (int64_t k = group.begin; k < group.end; ++k) {
    const Instruction& i = code_[k];
    if (reads_slot(i.op) || i.op == Op::Exponential) return -1;
    if (!reads_plane(i.op)) continue;
    if (plane >= 0 && plane != i.arg) return -1;
    plane = i.arg;
  }
  return plane;
}

double reads_of(const Program& program, const Side& side) {
  double reads = 0.0;
  for (size_t s = 0; s < program.sources().size(); ++s)
    reads += program.sources()[s]->reads(*side.tables[s]);
  return reads;
}

std::vector<Group> Program::groups_with(const double* weights) const {
  std::vector<Group> chosen;
  for (const Group& group : groups_)
    if (std::any_of(weights + group.first, weights + group.last, [](double w) { return w != 0.0; }))
      chosen.push_back(group);
  return chosen;
}

}  // namespace kw

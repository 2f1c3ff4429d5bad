// A list of kernels as one postfix program. Python describes the kernels; the core runs the program
// on tiles. Every instruction works on a vector of pairs (one row example and a range of column
// examples), so that interpretation costs little per pair.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/quantity.h"
#include "simd/simd.h"

namespace kw {

enum class Op : uint8_t {
  Copy,
  Power,
  Exp,
  Mul,
  Add,
  Square,
  Dup,
  Scale,
  Unit,
  Center,
  Absent,
  Exponential,
  Out
};

struct Instruction {
  Op op;
  int32_t arg;  // plane, slot, or degree
  int32_t degree;
  double a, b;
};

// Instructions [begin, end) compute the kernels [first, last). They are run or skipped together.
struct Group {
  int64_t begin, end;
  int64_t first, last;
};

// The input of a program: one row example and a range of column examples.
struct RowView {
  const Side& a;
  const Side& b;
  int64_t row;                  // example of side a
  int64_t j0, n;                // examples [j0, j0 + n) of side b
  const double* const* planes;  // n values of each plane
  bool exact = false;           // compute values below 1e-19, too
};

// Arguments of exp below -45 give 0: exp(-45) is 3e-20, and a million such values do not change a
// sum in double precision. A narrow kernel is 0 on most tiles, which are then skipped.
constexpr double kNothing = 45.0;

// A callback sink(m, values) that receives the values of kernel m.
template <typename Sink>
concept KernelSink = std::invocable<Sink&, int64_t, const double*>;

class Program {
 public:
  int32_t source(const std::string& kind);  // adds a source; returns the index of its first plane
  int32_t source(std::shared_ptr<const Quantity> quantity);
  void push(Op op, int32_t arg, double a = 0.0, double b = 0.0, int32_t degree = 0);
  void end_group();

  int64_t n_kernels() const { return n_kernels_; }
  int64_t n_planes() const { return n_planes_; }
  int64_t stack_size() const { return deepest_; }
  void check(const Side& side) const;  // throws if tables or vectors are missing
  // Throws if examples of a cannot be compared with examples of b. Functions that run a program do
  // not check the type or size of tables again.
  void check(const Side& a, const Side& b) const;
  const std::vector<std::shared_ptr<const Quantity>>& sources() const { return sources_; }
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<Instruction>& code() const { return code_; }

  // The plane of which all kernels of a group are functions; -1 if there are several.
  int64_t plane_of(const Group& group) const;
  // Groups with a nonzero weight.
  std::vector<Group> groups_with(const double* weights) const;

  // Calls sink(m, values) for every kernel m of the groups. stack: memory for stack_size() * view.n
  // values.
  template <KernelSink Sink>
  void run(const std::vector<Group>& groups, const RowView& view, double* stack, Sink&& sink) const;

 private:
  std::vector<std::shared_ptr<const Quantity>> sources_;
  std::vector<Instruction> code_;
  std::vector<Group> groups_;
  int64_t n_kernels_ = 0, n_planes_ = 0, n_slots_ = 0, depth_ = 0, deepest_ = 0;
};

// Cost of all values of one pair, in units of reading one cached value.
double reads_of(const Program& program, const Side& side);

template <KernelSink Sink>
void Program::run(const std::vector<Group>& groups, const RowView& view, double* stack,
                  Sink&& sink) const {
  const Simd& loops = simd();
  const int64_t n = view.n;
  double least = 0.0;  // lower bound of the values of a plane
  int32_t measured = -1;
  for (const Group& group : groups) {
    int64_t m = group.first;
    double* top = stack - n;
    for (int64_t k = group.begin; k < group.end; ++k) {
      const Instruction& i = code_[k];
      switch (i.op) {
        case Op::Copy:
          top += n;
          for (int64_t j = 0; j < n; ++j) top[j] = view.planes[i.arg][j];
          break;
        case Op::Power:
          top += n;
          loops.power(view.planes[i.arg], i.a, i.b, i.degree, top, n);
          break;
        case Op::Exp:
          top += n;
          if (!view.exact && measured != i.arg)
            least = loops.least(view.planes[measured = i.arg], n);
          if (i.a * least > kNothing)
            for (int64_t j = 0; j < n; ++j) top[j] = 0.0;
          else
            loops.exp(view.planes[i.arg], -i.a, top, n);
          break;
        case Op::Mul:
          top -= n;
          loops.mul(top + n, top, n);
          break;
        case Op::Add:
          top -= n;
          loops.add(top + n, top, n);
          break;
        case Op::Square:
          for (int64_t j = 0; j < n; ++j) top[j] *= top[j];
          break;
        case Op::Dup:
          top += n;
          for (int64_t j = 0; j < n; ++j) top[j] = top[j - n];
          break;
        case Op::Scale:
          loops.scale(i.a, top, n);
          break;
        case Op::Unit:
          loops.unit(view.a.vectors[i.arg][view.row], view.b.vectors[i.arg].data + view.j0, top, n);
          break;
        case Op::Center:
          loops.center(i.a - view.a.vectors[i.arg][view.row], view.b.vectors[i.arg].data + view.j0,
                       top, n);
          break;
        case Op::Absent:
          loops.absent(view.a.vectors[i.arg][view.row], view.b.vectors[i.arg].data + view.j0, i.a,
                       top, n);
          break;
        case Op::Exponential:
          for (int64_t j = 0; j < n; ++j) top[j] -= 1.0;
          loops.exp(top, i.a, top, n);
          break;
        case Op::Out:
          sink(m++, top);
          top -= n;
          break;
      }
    }
  }
}

}  // namespace kw

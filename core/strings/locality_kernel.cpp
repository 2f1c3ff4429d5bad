#include "strings/locality_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "strings/plane_table.h"
#include "system/team.h"

namespace kw {
namespace {

// Mask of the known letters of word w that are equal.
uint64_t matches(const PlaneTable& a, int64_t i, const PlaneTable& b, int64_t j, int64_t w) {
  uint64_t differ = 0;
  for (int64_t plane = 0; plane < a.planes; ++plane)
    differ |= a.letters(i)[plane * a.words + w] ^ b.letters(j)[plane * a.words + w];
  if (a.masked) differ |= a.unknown(i)[w];
  if (b.masked) differ |= b.unknown(j)[w];
  return ~differ;
}

constexpr int64_t kMaxWindow = 63;  // letters of a window: the bits of a word

class LocalityKernel : public Quantity {
 public:
  LocalityKernel(int64_t half_window, int64_t degree) : window_(2 * half_window + 1) {
    if (half_window < 0 || window_ > kMaxWindow || degree < 1)
      throw std::invalid_argument(
          "windows of 1 to 63 letters and degrees of at least 1 are accepted");
    for (int64_t count = 0; count <= window_; ++count)
      powers_.push_back(std::pow(double(count) / double(window_), double(degree)));
  }

  void check(const Table& a, const Table& b) const override {
    if (planes_of(a).length != planes_of(b).length)
      throw std::invalid_argument("the locality-improved kernel needs sequences of one length");
    check_planes(planes_of(a), planes_of(b));
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& pack = static_cast<const ChosenRows&>(rows);
    const PlaneTable &own = planes_of(pack.table), &others = planes_of(b);
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t j = j0; j < j1; ++j)
        out.row(r - r0)[j - j0] = value(own, pack.ids[r], others, j);
      check_interrupt();
    }
  }

  void diagonal(const Table& a, double* out) const override {
    for (int64_t i = 0; i < planes_of(a).n; ++i) {
      out[i] = value(planes_of(a), i, planes_of(a), i);
      check_interrupt();
    }
  }

  double reads(const Table&) const override { return 100.0; }

 private:
  double value(const PlaneTable& a, int64_t i, const PlaneTable& b, int64_t j) const {
    const uint64_t mask = (uint64_t{1} << window_) - 1;
    double sum = 0.0;
    uint64_t next = matches(a, i, b, j, 0);
    for (int64_t w = 0; w < a.words; ++w) {
      const uint64_t here = next;
      next = w + 1 < a.words ? matches(a, i, b, j, w + 1) : 0;
      const int64_t last = std::min<int64_t>(64, a.length - window_ + 1 - 64 * w);
      for (int64_t bit = 0; bit < last; ++bit)
        sum += powers_[size_t(std::popcount((here >> bit | (next << 1) << (63 - bit)) & mask))];
    }
    return sum;
  }

  const int64_t window_;
  std::vector<double> powers_;  // powers of the fraction of matches in a window
};

}  // namespace

std::shared_ptr<const Quantity> locality_improved(int64_t half_window, int64_t degree) {
  return std::make_shared<LocalityKernel>(half_window, degree);
}

}  // namespace kw

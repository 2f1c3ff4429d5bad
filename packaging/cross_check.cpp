// The core on another processor, without Python: exponentials, sums, and weighted degree kernels
// with shifts on four threads, each against plain loops.
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "simd/simd.h"
#include "strings/wd_kernel.h"
#include "system/team.h"

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * (1.0 + std::abs(b)); }

bool exponentials(std::mt19937& random) {
  std::vector<double> s(1001), out(s.size());
  for (double& value : s) value = std::uniform_real_distribution<double>(0.0, 50.0)(random);
  kw::simd().exp(s.data(), -0.7, out.data(), int64_t(s.size()));
  double sum = 0.0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (!near(out[i], std::exp(-0.7 * s[i]))) return false;
    sum += s[i] * out[i];
  }
  return near(kw::simd().dot(s.data(), out.data(), int64_t(s.size())), sum);
}

bool agree(const std::string& x, const std::string& y, size_t i, size_t j, size_t k) {
  return i + k <= x.size() && j + k <= y.size() && x.compare(i, k, y, j, k) == 0;
}

double plain(const std::string& x, const std::string& y, const kw::WdParameters& parameters) {
  double value = 0.0;
  for (size_t k = 1; k <= parameters.weights.size(); ++k)
    for (size_t i = 0; i < x.size(); ++i) {
      value += parameters.weights[k - 1] * agree(x, y, i, i, k);
      for (size_t s = 1; s <= size_t(parameters.shifts[i]); ++s)
        value += parameters.weights[k - 1] / (2.0 * double(s + 1)) *
                 (agree(x, y, i + s, i, k) + agree(x, y, i, i + s, k));
    }
  return value;
}

bool sequences(std::mt19937& random) {
  constexpr int64_t n = 40, length = 130;
  kw::LetterTable table;
  table.fill(kw::kIllegal);
  for (int code = 0; code < 4; ++code) table["ACGT"[code]] = uint8_t(code);
  kw::SequenceBuilder builder(table, true);
  std::vector<std::string> texts(n);
  for (std::string& text : texts) {
    for (int64_t p = 0; p < length; ++p) text += "ACGT"[random() % 4];
    builder.append(text, true);
    builder.finish_record();
  }
  kw::SequenceView view;
  view.n = n;
  view.length = length;
  view.words = builder.words.data();
  auto data = std::make_shared<kw::PlaneTable>(view, nullptr);
  kw::WdParameters parameters;
  parameters.weights = {0.5, 0.3, 0.2, 0.1};
  parameters.shifts.assign(length, 2);
  const kw::WdKernel kernel(parameters, length);
  std::vector<int64_t> ids(n);
  for (int64_t i = 0; i < n; ++i) ids[i] = i;
  const auto rows = kernel.pack(*data, ids, *data);
  std::vector<double> values(n * n);
  kw::run_team(4, 2, [&](int64_t part, int) {
    const int64_t begin = 32 * part, end = part ? n : 32;
    kernel.tile(*rows, begin, end, *data, 0, n, {values.data() + begin * n, n, 0});
  });
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (!near(values[i * n + j], plain(texts[i], texts[j], parameters))) return false;
  return true;
}

}  // namespace

int main() {
  std::mt19937 random(0);
  const bool vectors = exponentials(random), strings = sequences(random);
  std::printf("SIMD level %s: exponentials %s, sequences %s\n", kw::simd().name,
              vectors ? "agree" : "DIFFER", strings ? "agree" : "DIFFER");
  return vectors && strings ? 0 : 1;
}

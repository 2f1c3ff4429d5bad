#include "strings/hamming_kernel.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "stores/hamming_store.h"
#include "strings/column_pairs.h"
#include "strings/hamming_product.h"
#include "strings/sequence_table.h"
#include "strings/window_runs.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kRowsOfBlock = 16;  // rows of a block of pairs

// Positions in a list of sequences, sorted by length.
std::vector<int64_t> by_length(const SequenceView& view, IdSpan sequences) {
  std::vector<int64_t> order(sequences.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return view.length_of(sequences[i]) < view.length_of(sequences[j]);
  });
  return order;
}

// Average number of letters of a sequence.
double typical_length(const SequenceView& view) {
  if (!view.lengths || view.n == 0) return double(view.length);
  double total = 0.0;
  for (int64_t i = 0; i < view.n; ++i) total += double(view.lengths[i]);
  return total / double(view.n);
}

// Costs in nanoseconds, measured on one core of an AMD EPYC with AVX-512: comparing a pair of
// words, transforming an entry of a table, and adding or looking up a word.
constexpr double kPair = 0.035, kPlace = 6.0, kWord = 4.0;
constexpr double kPlaceOfLarge = 24.0;  // cost of an entry of a table larger than `kSmallTable`
// Largest table whose transformation takes no longer than comparing the words of a typical training
// set.
constexpr uint64_t kSmallTable = uint64_t{1} << 24;

// Numbers of mismatches with a nonzero h for some member: 0, 1, ..., classes - 1.
int64_t classes_of(const HammingParameters& parameters) {
  int64_t last = 0;
  for (size_t at = 0; at < parameters.values.size(); ++at)
    if (parameters.values[at] != 0.0)
      last = std::max(last, int64_t(at) % (parameters.length() + 1));
  return last + 1;
}

class HammingKernel : public StoredQuantity {
 public:
  explicit HammingKernel(HammingParameters given)
      : parameters(std::move(given)), classes_(classes_of(parameters)) {}

  int64_t planes() const override { return parameters.members(); }

  void check(const Table& a, const Table& b) const override {
    check_alphabet(a, b, parameters.rule.kmers.letters);
  }

  void tile(const Rows& rows, int64_t r0, int64_t r1, const Table& b, int64_t j0, int64_t j1,
            TileOut out) const override {
    const auto& packed = static_cast<const ChosenRows&>(rows);
    const SequenceView &x = sequences_of(packed.table), &y = sequences_of(b);
    const std::vector<int64_t> own = by_length(x, std::span(packed.ids).subspan(r0, r1 - r0));
    std::vector<int64_t> columns(size_t(j1 - j0));
    std::iota(columns.begin(), columns.end(), j0);
    const std::vector<int64_t> others = by_length(y, columns);
    ColumnPairs together(parameters.rule, classes_);
    const int64_t tall = std::min(r1 - r0, kRowsOfBlock), wide = together.width() / tall;
    for (size_t r = 0; r < own.size(); r += tall)
      for (size_t j = 0; j < others.size(); j += wide) {
        const size_t r_end = std::min(own.size(), r + tall),
                     j_end = std::min(others.size(), j + wide);
        SequencePairs pairs;
        for (size_t row = r; row < r_end; ++row)
          for (size_t column = j; column < j_end; ++column) {
            pairs.rows.push_back(packed.ids[r0 + own[row]]);
            pairs.columns.push_back(j0 + others[column]);
          }
        const int64_t width = int64_t(j_end - j);
        together.count(x, y, pairs, [&](int64_t pair, const std::vector<double>& found) {
          const int64_t row = own[r + pair / width], column = others[j + pair % width];
          for (int64_t p = 0; p < planes(); ++p)
            out.row(row)[p * out.plane_stride + column] = value(found, p);
        });
      }
  }

  void diagonal(const Table& a, double* out) const override {
    const SequenceView& view = sequences_of(a);
    WordPairs pairs(parameters.rule, classes_);
    // The weight of a word does not depend on its position.
    const bool slides = parameters.rule.peak <= 0.0;
    auto keep = [&](int64_t i, const std::vector<double>& found) {
      for (int64_t p = 0; p < planes(); ++p) out[p * view.n + i] = value(found, p);
    };
    std::vector<int64_t> others;
    for (int64_t i = 0, run; i < view.n; i += run) {
      run = slides ? run_of_windows(view, i, view.n) : 1;
      if (run == 1) {
        others.push_back(i);
        continue;
      }
      pairs.count_windows(Strands(text_of_windows(view, i, run), parameters.rule), run,
                          [&](int64_t w, const std::vector<double>& found) { keep(i + w, found); });
      check_interrupt();
    }
    ColumnPairs(parameters.rule, classes_).count_own(view, std::move(others), keep);
  }

  int64_t row_bytes(const Table& a) const override {
    return int64_t(16.0 * typical_length(sequences_of(a))) + 1024;
  }

  // A pair is so expensive that reading a cached value is always cheaper.
  double reads(const Table& a) const override {
    const double length = typical_length(sequences_of(a));
    return kPair * length * length;
  }

  std::shared_ptr<const Quantity> combined(const double* planes) const override {
    return std::make_shared<HammingKernel>(sum_of_members(planes));
  }

  int64_t most_normalisations() const override { return 32; }

  std::unique_ptr<Sums> sums(const Table& a, const SumRequest& request) const override {
    if (!has_table()) return nullptr;
    const int64_t count = int64_t(request.rows.size()), columns = request.columns;
    const SequenceView& view = sequences_of(a);
    const double length = typical_length(view), strands = parameters.rule.both_strands ? 2.0 : 1.0;
    const int64_t tables = request.planes ? 1 : planes();
    const uint64_t places = parameters.rule.kmers.space();
    const double by_table =
        double(tables) * (places > kSmallTable ? kPlaceOfLarge : kPlace) * double(places) +
        kWord * length * double(count + tables * columns);
    const double by_pairs = strands * kPair * length * length * double(count) * double(columns);
    if (parameters.store != StoreKind::kTable && by_pairs < by_table) return nullptr;
    auto store = std::make_unique<HammingStore>(request.planes ? sum_of_members(request.planes)
                                                               : parameters);
    store->add(a, request.rows, request.factors);
    store->close(request.threads);
    return store;
  }

  std::unique_ptr<Store> make_store(int64_t) const override {
    return std::make_unique<HammingStore>(parameters);
  }

  ProductCosts product_costs(const Table& a) const override {
    const SequenceView& view = sequences_of(a);
    const bool small = parameters.rule.kmers.space() <= kSmallTable;
    const double words = 2.0 * kWord * typical_length(view) * double(view.n);
    return {.cheap = has_table() && (small || parameters.store == StoreKind::kTable),
            .bytes = HammingProduct::bytes(parameters, view),
            .fixed = words < kPlace * double(parameters.rule.kmers.space())};
  }

  std::unique_ptr<Product> product(const Table& a, int64_t room, int) const override {
    const ProductCosts costs = product_costs(a);
    if (!costs.cheap) return nullptr;
    return std::make_unique<HammingProduct>(parameters, table_as<SequenceTable>(a),
                                            costs.bytes <= room);
  }

  const HammingParameters parameters;

 private:
  double value(const std::vector<double>& found, int64_t plane) const {
    const double* h = parameters.values.data() + plane * (parameters.length() + 1);
    double total = 0.0;
    for (int64_t m = 0; m < classes_; ++m) total += h[m] * found[m];
    return total;
  }

  HammingParameters sum_of_members(const double* weights) const {
    const int64_t size = parameters.length() + 1;
    HammingParameters one = parameters;
    one.values.assign(size, 0.0);
    one.spectra.assign(size, 0.0);
    for (int64_t at = 0; at < int64_t(parameters.values.size()); ++at) {
      one.values[at % size] += weights[at / size] * parameters.values[at];
      one.spectra[at % size] += weights[at / size] * parameters.spectra[at];
    }
    return one;
  }

  bool has_table() const {
    return parameters.store != StoreKind::kRows && parameters.rule.kmers.space() <= kMostWords;
  }

  const int64_t classes_;
};

}  // namespace

std::shared_ptr<const StoredQuantity> hamming_kernel(HammingParameters parameters) {
  return std::make_shared<HammingKernel>(std::move(parameters));
}

const HammingParameters* hamming_parameters(const Quantity& quantity) {
  const auto* kernel = dynamic_cast<const HammingKernel*>(&quantity);
  return kernel ? &kernel->parameters : nullptr;
}

}  // namespace kw

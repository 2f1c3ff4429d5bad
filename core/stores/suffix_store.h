// Weights of the substrings of sequences, in a suffix array. Substrings may have any length and
// alphabet, and several lengths may have weights. Owns the texts that were added. `prepare` and
// look-ups take time linear in the number of letters.
#pragma once
#include <optional>

#include "stores/store.h"
#include "strings/substring_weights.h"

namespace kw {

class SuffixStore : public Store {
 public:
  SuffixStore(int letters, std::shared_ptr<const LengthWeights> lengths)
      : letters_(letters), lengths_(std::move(lengths)) {}

  const char* kind() const override { return "suffix"; }
  void clear() override;
  void add(const Table& a, IdSpan rows, std::span<const double> delta) override;
  void merge(const Store& other) override;
  void prepare(int threads) override;
  void lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t stride) const override;
  void items(const VisitWord& visit) const override;
  int64_t bytes() const override;

 private:
  struct Part {
    int64_t end;  // end in the texts
    double delta;
  };

  void open();
  void close_part(double delta);

  const int letters_;
  const std::shared_ptr<const LengthWeights> lengths_;
  std::vector<uint8_t> texts_;  // empty once prepared
  std::vector<Part> parts_;
  std::optional<SubstringWeights<1>> index_;
};

}  // namespace kw

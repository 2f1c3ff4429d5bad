// The words of a sequence against each other, counted by their mismatches, for many sequences at a
// time. It is several times faster than one sequence after another (word_pairs.h).
#pragma once
#include <functional>
#include <vector>

#include "simd/own_pairs.h"
#include "strings/word_pairs.h"
#include "system/recycled.h"

namespace kw {

class OwnPairs {
 public:
  OwnPairs(const HammingRule& rule, int64_t classes) : rule_(rule), found_(classes) {}

  // visit(i, what WordPairs::count_own finds) for each of the sequences i, in any order.
  using Visit = std::function<void(int64_t, const std::vector<double>&)>;
  void count(const SequenceView& view, std::vector<int64_t> sequences, const Visit& visit);

 private:
  // As many sequences as a vector has bits, at most.
  void count_block(const SequenceView& view, const int64_t* sequences, int64_t count,
                   const Visit& visit);
  void fill(const SequenceView& view, const int64_t* sequences, int64_t count, int64_t letters,
            int64_t places);
  void compare(int64_t places);

  const HammingRule& rule_;
  std::vector<double> found_;
  Buffer<uint64_t> vectors_, counters_;
  OwnPairTask task_ = {};
};

}  // namespace kw

// The suffix automaton of the added sequences, which is the suffix tree of the reversed ones, read
// by matching statistics (Chang and Lawler, 1994): the longest match that ends at a letter follows
// from that of the letter before, in constant time on average, whatever k and the alphabet.
//
// A state stands for all words that occur at the same ends. Its link leads to the longest suffix of
// them that occurs elsewhere too, so the weight of a state is that of its ends and of all states
// that link to it.
#include <algorithm>
#include <stdexcept>

#include "stores/edges.h"
#include "stores/kmer_store.h"

namespace kw {
namespace {

class SuffixStore : public KmerStore {
 public:
  explicit SuffixStore(const KmerRule& rule) : KmerStore(rule), edges_(rule.letters) {
    if (rule.folded) throw std::invalid_argument("a suffix store cannot fold the two strands");
    clear();
  }

  void clear() override {
    edges_ = Edges(rule.letters);
    edges_.add_node();
    states_.assign(1, State{});
  }
  void settle(int) override;
  int64_t bytes() const override {
    return edges_.bytes() + int64_t(states_.capacity() * sizeof(State));
  }

 protected:
  void put(uint64_t kmer, double weight) override {
    uint32_t state = 0;
    for (char code : rule.codes(kmer)) state = extend(state, uint8_t(code));
    states_[state].ends += weight;
  }
  void put_sequence(const SequenceView& view, int64_t i, double delta) override;
  double sum_sequence(const SequenceView& view, int64_t i) const override;
  void each(const VisitKmer& visit) const override { visit_below(0, 0, 0, visit); }

 private:
  struct State {
    uint32_t link = 0;
    int32_t length = 0;   // of its longest word
    double ends = 0.0;    // weight of the ends at which its longest word was added
    double weight = 0.0;  // of all its ends
  };

  uint32_t extend(uint32_t last, uint8_t letter);
  uint32_t split(uint32_t from, uint8_t letter, uint32_t target);
  void visit_below(uint32_t state, int64_t depth, uint64_t kmer, const VisitKmer& visit) const;

  Edges edges_;
  std::vector<State> states_;
};

// The state of the sequence read so far, lengthened by a letter.
uint32_t SuffixStore::extend(uint32_t last, uint8_t letter) {
  if (const uint32_t known = edges_.to(last, letter)) {
    const bool longest = states_[known].length == states_[last].length + 1;
    return longest ? known : split(last, letter, known);
  }
  const uint32_t fresh = edges_.add_node();
  states_.push_back({0, states_[last].length + 1, 0.0, 0.0});
  for (uint32_t state = last;; state = states_[state].link) {
    if (const uint32_t known = edges_.to(state, letter)) {
      const bool longest = states_[known].length == states_[state].length + 1;
      states_[fresh].link = longest ? known : split(state, letter, known);
      return fresh;
    }
    edges_.set(state, letter, fresh);
    if (state == 0) return fresh;
  }
}

// Takes the words that `from` and its suffixes lead to out of a state that has longer ones too.
uint32_t SuffixStore::split(uint32_t from, uint8_t letter, uint32_t target) {
  const uint32_t twin = edges_.copy_node(target);
  states_.push_back({states_[target].link, states_[from].length + 1, 0.0, 0.0});
  states_[target].link = twin;
  for (uint32_t state = from; edges_.to(state, letter) == target; state = states_[state].link) {
    edges_.set(state, letter, twin);
    if (state == 0) break;
  }
  return twin;
}

void SuffixStore::put_sequence(const SequenceView& view, int64_t i, double delta) {
  thread_local std::vector<uint8_t> codes;
  codes.resize(size_t(view.length_of(i)));
  view.unpack(i, codes.data());
  uint32_t state = 0;
  for (uint8_t code : codes) {
    state = code == kUnknown ? 0 : extend(state, code);
    states_[state].ends += delta;
  }
}

void SuffixStore::settle(int) {
  std::vector<uint32_t> order(states_.size());
  for (uint32_t s = 0; s < order.size(); ++s) order[s] = s;
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return states_[a].length > states_[b].length; });
  for (State& state : states_) state.weight = state.ends;
  for (uint32_t s : order)
    if (s) states_[states_[s].link].weight += states_[s].weight;
}

double SuffixStore::sum_sequence(const SequenceView& view, int64_t i) const {
  thread_local std::vector<uint8_t> codes;
  codes.resize(size_t(view.length_of(i)));
  view.unpack(i, codes.data());
  double total = 0.0;
  uint32_t state = 0;
  int64_t length = 0;  // of the longest match that ends here, or k
  for (uint8_t code : codes) {
    if (code == kUnknown) {
      state = 0;
      length = 0;
      continue;
    }
    while (state && !edges_.to(state, code)) {
      state = states_[state].link;
      length = states_[state].length;
    }
    const uint32_t next = edges_.to(state, code);
    if (!next) continue;
    state = next;
    length = std::min(length + 1, rule.k);
    while (states_[states_[state].link].length >= length) state = states_[state].link;
    if (length == rule.k) total += states_[state].weight;
  }
  return total;
}

void SuffixStore::visit_below(uint32_t state, int64_t depth, uint64_t kmer,
                              const VisitKmer& visit) const {
  if (depth == rule.k) return visit(kmer, states_[state].weight);
  for (uint64_t letter = 0; letter < rule.letters; ++letter)
    if (const uint32_t next = edges_.to(state, uint8_t(letter)))
      visit_below(next, depth + 1, kmer * rule.letters + letter, visit);
}

}  // namespace

std::unique_ptr<KmerStore> suffix_store(const KmerRule& rule) {
  return std::make_unique<SuffixStore>(rule);
}

}  // namespace kw

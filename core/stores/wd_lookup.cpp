// Look-ups in the weight store of the weighted degree kernel (wd_store.h).
#include <utility>

#include "simd/simd.h"
#include "stores/wd_store.h"
#include "system/team.h"

namespace kw {
namespace {

constexpr int64_t kPositions = 16;  // positions read between two checks for interrupts

// Receives the matches of a sequence, and adds up their weights.
struct Total {
  static constexpr bool by_level = false;
  const double* reach;
  double sum = 0.0;

  void level(int64_t, double value) { sum += value; }
  void run(int64_t from, int64_t to, double delta) { sum += delta * (reach[to] - reach[from]); }
};

// Receives the matches of a sequence, and adds up their weights for each length.
struct ByDegree {
  static constexpr bool by_level = true;
  double* out;
  int64_t stride;
  const double* weights;

  void level(int64_t k, double value) { out[(k - 1) * stride] += value; }
  void run(int64_t from, int64_t to, double delta) {
    for (int64_t k = from; k < to; ++k) out[k * stride] += delta * weights[k];
  }
};

}  // namespace

// The state of a look-up: a sequence from position p on, as a 64-bit word of letters (the tag is
// ignored), and the maximum length of matches.
struct WdStore::Reading {
  const PlaneTable& b;
  const int64_t* j;  // address of the index of the sequence; only needed for long matches
  int64_t p;
  uint64_t word;
  int64_t known;

  uint32_t letter(int64_t depth) const {
    if (depth < letters_of_word(b.planes))
      return uint32_t(prefix(word, b.planes, depth + 1) & ((uint64_t{1} << b.planes) - 1));
    uint32_t code = 0;
    for (int64_t plane = 0; plane < b.planes; ++plane)
      code |= uint32_t(window(plane) >> depth & 1) << plane;
    return code;
  }
  uint64_t window(int64_t plane) const {
    return window_at(b.letters(*j) + plane * b.words, b.words, p);
  }
};

// A block of sequences that are looked up together, from the last position to the first, always in
// lexicographic order of their letters from the present position on. Sorting stably by the letter
// at a position turns the order at the next position into the order at this one (Durbin, 2014). So
// tables and leaves are read sequentially, whatever their size. Sequences with unknown letters are
// looked up one by one.
struct WdStore::Block {
  static constexpr int64_t kSize = int64_t{1} << kTagBits;

  // The letters of a sequence from the present position on, tagged with its index in the block, and
  // its sum so far.
  struct Record {
    uint64_t word;
    double sum;
  };

  Block(const PlaneTable& b, int64_t j0, int64_t j1) : b(b), j0(j0), read(b.planes) {
    clean.reserve(j1 - j0);
    for (int64_t j = j0; j < j1; ++j) b.all_known(j) ? clean.push_back(j) : masked.push_back(j);
    const int64_t n = size(), all = b.planes * b.words;
    words.resize(n * all);
    for (int64_t s = 0; s < n; ++s)
      for (int64_t w = 0; w < all; ++w) words[w * n + s] = b.letters(clean[s])[w];
    letters.resize(n);
    hits.resize(n);
    before.resize(n);
    records.resize(n);
    for (int64_t s = 0; s < n; ++s) records[s] = {uint64_t(s), 0.0};
  }

  int64_t size() const { return int64_t(clean.size()); }
  const int64_t& example(const Record& record) const { return clean[record.word & kTag]; }
  void flush(double* out) {
    for (Record& record : records) out[example(record)] += std::exchange(record.sum, 0.0);
  }

  // The first record of each letter.
  std::array<Record*, 256> sections() {
    // Four copies, for instruction-level parallelism.
    std::array<std::array<uint32_t, 256>, 4> counts = {};
    int64_t s = 0;
    for (; s + 4 <= size(); s += 4)
      for (int64_t lane = 0; lane < 4; ++lane) ++counts[lane][letters[s + lane]];
    for (; s < size(); ++s) ++counts[0][letters[s]];
    std::array<Record*, 256> begin;
    Record* next = records.data();
    for (int64_t letter = 0; letter < int64_t{1} << b.planes; ++letter) {
      begin[letter] = next;
      for (const auto& count : counts) next += count[letter];
    }
    return begin;
  }

  // Moves to position p, adds the values of its table if kAdd, and lists the records that have
  // leaves below the table.
  template <int P, bool kAdd>
  void advance(const Position& position, int64_t p) {
    const int64_t n = size(), planes = P ? P : b.planes;
    simd().wd->letters(words.data() + p / 64 * n, planes, b.words * n, p % 64, n, letters.data());
    records.swap(before);
    std::array<Record*, 256> to = sections();
    const double* table = position.levels.back().data();
    const uint64_t* deeper = position.deeper.data();
    const int64_t place = 64 - planes * position.depth, mark = 64 - planes * position.marked;
    int64_t noted = 0;
    for (const Record& from : before) {
      const uint64_t id = from.word & kTag, letter = letters[id];
      const uint64_t word = (from.word >> planes & ~kTag) | id | letter << (64 - planes);
      Record* record = to[letter]++;
      *record = {word, kAdd ? from.sum + table[word >> place] : from.sum};
      hits[noted] = uint32_t(record - records.data());
      noted += deeper[word >> mark >> 6] >> (word >> mark & 63) & 1;
    }
    found = noted;
  }

  const PlaneTable& b;
  const int64_t j0;
  const WordReader read;
  std::vector<int64_t> masked;
  Buffer<int64_t> clean;
  Buffer<uint64_t> words;  // transposed: the words of one position are contiguous
  Buffer<uint8_t> letters;
  Buffer<Record> records, before;
  Buffer<uint32_t> hits;
  int64_t found = 0;
};

template <int P>
inline int64_t WdStore::shared_letters(Leaf leaf, const Reading& reading) const {
  const int64_t planes = P ? P : planes_;
  int64_t shared = std::countl_zero(leaf[0] ^ reading.word) / planes;
  if (tail_ && shared >= letters_of_word(planes)) {
    uint64_t differ = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      differ |= leaf[kLeafHead + plane] ^ reading.window(plane);
    shared = std::countr_zero(differ);
  }
  return std::min({shared, letters_in(leaf), reading.known});
}

// Passes the weights of the matches below the table to the sink.
template <int P, class Sink>
inline void WdStore::descend(const Position& position, const Reading& reading, Sink& sink) const {
  int64_t depth = position.depth;
  Link link = position.below(uint32_t(prefix(reading.word, P ? P : planes_, depth)));
  while (link.count == kBranch) {
    if (depth == reading.known) return;
    const Child& child = position.children[link.first + reading.letter(depth)];
    sink.level(++depth, child.value);
    link = child.link;
  }
  const int64_t width = leaf_words();
  const uint64_t* leaf = position.leaves.data() + link.first * width;
  for (uint32_t left = link.count; left; --left, leaf += width)
    sink.run(depth, shared_letters<P>(leaf, reading), delta_of(leaf));
}

// For a sequence with unknown letters, whose matches may end inside the table.
template <class Sink>
void WdStore::walk_masked(const Block& block, int64_t j, int64_t p, Sink& sink) const {
  const Position& position = positions_[p];
  const int64_t known = known_from(block.b, j, p, degree_);
  const Reading reading = {block.b, &j, p, block.read(block.b, j, p), known};
  const int64_t end = std::min<int64_t>(known, position.depth);
  for (int64_t k = Sink::by_level || end == 0 ? 1 : end; k <= end; ++k)
    sink.level(k, position.levels[k - 1][prefix(reading.word, planes_, k)]);
  if (known > position.depth) descend<0>(position, reading, sink);
}

// Calls walk(record, reading) for the sequences that have leaves below the table of a position.
template <class Walk>
void WdStore::pass_below(Block& block, int64_t p, Walk&& walk) const {
  const int64_t known = std::min(degree_, length_ - p);
  for (int64_t h = 0; h < block.found; ++h) {
    Block::Record& record = block.records[block.hits[h]];
    walk(record, Reading{block.b, &block.example(record), p, record.word, known});
  }
}

// Adds one value per sequence to the sums of the block (or to out, for sequences looked up one by
// one).
template <int P>
void WdStore::pass_total(Block& block, int64_t p, double* out) const {
  const Position& position = positions_[p];
  block.advance<P, true>(position, p);
  pass_below(block, p, [&](Block::Record& record, const Reading& reading) {
    Total found = {reach(p)};
    descend<P>(position, reading, found);
    record.sum += found.sum;
  });
  for (int64_t j : block.masked) {
    Total found = {reach(p)};
    walk_masked(block, j, p, found);
    out[j] += found.sum;
  }
}

template <int P>
void WdStore::pass_degrees(Block& block, int64_t p, double* out, int64_t stride) const {
  const Position& position = positions_[p];
  block.advance<P, false>(position, p);
  for (int k = 1; k <= position.depth; ++k) {
    const double* level = position.levels[k - 1].data();
    double* row = out + (k - 1) * stride;
    for (const Block::Record& record : block.records)
      row[block.example(record)] += level[prefix(record.word, P ? P : planes_, k)];
  }
  pass_below(block, p, [&](const Block::Record& record, const Reading& reading) {
    ByDegree found = {out + block.example(record), stride, position.weights};
    descend<P>(position, reading, found);
  });
  for (int64_t j : block.masked) {
    ByDegree found = {out + j, stride, position.weights};
    walk_masked(block, j, p, found);
  }
}

template <int P>
void WdStore::lookup_block(Block& block, double* out, int64_t stride) const {
  out -= block.j0;
  for (int64_t p = length_ - 1; p >= 0; --p) {
    if (p % kPositions == 0) check_interrupt();
    switch (value_) {
      case WdValue::kSum:
        pass_total<P>(block, p, out);
        break;
      case WdValue::kDegrees:
        pass_degrees<P>(block, p, out, stride);
        break;
      case WdValue::kBoth:
        pass_degrees<P>(block, p, out + p * stride, stride * length_);
        break;
      case WdValue::kPositions:
        pass_total<P>(block, p, out + p * stride);
        block.flush(out + p * stride);
        break;
    }
  }
  block.flush(out);
}

void WdStore::lookup(const Table& table, int64_t j0, int64_t j1, double* out,
                     int64_t stride) const {
  const auto& b = table_as<PlaneTable>(table);
  if (batches_.empty()) return;
  for (int64_t j = j0; j < j1; j += Block::kSize) {
    Block block(b, j, std::min(j1, j + Block::kSize));
    if (planes_ == 2)
      lookup_block<2>(block, out + j - j0, stride);
    else
      lookup_block<0>(block, out + j - j0, stride);
  }
}

}  // namespace kw

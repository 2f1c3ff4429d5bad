#include "stores/suffix_store.h"

#include <stdexcept>
#include <string>

#include "strings/sequence_table.h"
#include "strings/suffix_array.h"
#include "system/team.h"

namespace kw {
namespace {

[[noreturn]] void throw_other_words() {
  throw std::invalid_argument("the stores belong to different kernels");
}

}  // namespace

void SuffixStore::clear() {
  index_.reset();
  texts_.clear();
  parts_.clear();
}

// Discards the index and makes the texts available again, so that more can be added.
void SuffixStore::open() {
  if (!index_) return;
  texts_ = std::move(*index_).take_texts();
  index_.reset();
}

void SuffixStore::close_part(double delta) {
  if (int64_t(texts_.size()) > kLongestText)
    throw std::length_error(
        "a suffix store has room for 2^31 - 2 letters; add fewer sequences, or words of fewer "
        "letters to another store");
  parts_.push_back({int64_t(texts_.size()), delta});
}

void SuffixStore::add(const Table& a, IdSpan rows, std::span<const double> delta) {
  open();
  for (size_t r = 0; r < rows.size(); ++r) {
    append_text(sequences_of(a), rows[r], texts_);
    close_part(delta[r]);
    if (r % kSequencesBetweenLooks == 0) check_interrupt();
  }
}

void SuffixStore::merge(const Store& other) {
  if (const auto* same = dynamic_cast<const SuffixStore*>(&other)) {
    if (same->letters_ != letters_ || *same->lengths_ != *lengths_) throw_other_words();
    const std::vector<uint8_t> texts = same->index_ ? same->index_->texts() : same->texts_;
    const std::vector<Part> parts = same->parts_;  // a copy, since `other` may be this store
    open();
    int64_t start = 0;
    for (const Part& part : parts) {
      texts_.insert(texts_.end(), texts.begin() + start, texts.begin() + part.end);
      close_part(part.delta);
      start = part.end;
    }
    return;
  }
  open();
  other.items([&](int64_t position, const std::string& codes, double weight) {
    if (position >= 0 || !lengths_->single() || int64_t(codes.size()) != lengths_->longest())
      throw_other_words();
    for (char code : codes) texts_.push_back(uint8_t(uint8_t(code) + 1));
    texts_.push_back(0);
    close_part(weight / lengths_->sums.back());
  });
}

void SuffixStore::prepare(int) {
  if (index_) return;
  index_.emplace(lengths_, std::move(texts_));
  int64_t start = 0;
  for (const Part& part : parts_) {
    index_->add(start, part.end, 0, part.delta);
    start = part.end;
  }
  index_->finish();
}

void SuffixStore::lookup(const Table& b, int64_t j0, int64_t j1, double* out, int64_t) const {
  thread_local std::vector<uint8_t> texts;
  for (int64_t j = j0; j < j1; ++j) {
    texts.clear();
    append_text(sequences_of(b), j, texts);
    out[j - j0] += index_->sum(texts)[0];
    if (j % kSequencesBetweenLooks == 0) check_interrupt();
  }
}

void SuffixStore::items(const VisitWord& visit) const {
  index_->each([&](const uint8_t* letters, int32_t length, const std::array<double, 1>& value) {
    if (value[0] == 0.0) return;
    std::string codes(letters, letters + length);
    for (char& code : codes) code = char(code - 1);
    visit(-1, codes, lengths_->weight(length) * value[0]);
  });
}

int64_t SuffixStore::bytes() const {
  return int64_t(texts_.capacity() + parts_.capacity() * sizeof(Part)) +
         (index_ ? index_->bytes() : 0);
}

}  // namespace kw

#include "strings/sequence_parser.h"

#include <algorithm>
#include <cctype>

namespace kw {

namespace {

constexpr size_t kNameShown = 40;  // letters of a header in error messages

bool blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

}  // namespace

std::string shown_letter(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  if (byte < 128 && std::isprint(byte)) return std::string("'") + letter + "'";
  constexpr char digits[] = "0123456789abcdef";
  return std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15];
}

void SequenceParser::fail(const std::string& what) const {
  std::string where = "line " + std::to_string(line_number_);
  if (record_ > 0) {
    std::string name;
    std::copy_if(
        name_.begin(), name_.begin() + static_cast<long>(std::min(name_.size(), kNameShown)),
        std::back_inserter(name), [](unsigned char c) { return c < 128 && std::isprint(c); });
    where += ", record " + std::to_string(record_) + " ('" + name + "')";
  }
  throw ParseError(where + ": " + what);
}

void SequenceParser::feed(std::string_view text) {
  while (!text.empty()) {
    if (at_line_start_) {
      if (text.front() == '\n' || blank(text.front())) {  // skip blank lines and indents
        line_number_ += text.front() == '\n';
        text.remove_prefix(1);
        continue;
      }
      open_line(text.front());
      at_line_start_ = false;
      if (line_ == Line::header || line_ == Line::plus) text.remove_prefix(1);
    }
    const size_t end = text.find('\n');
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    close_line();
    text.remove_prefix(end + 1);
  }
}

void SequenceParser::open_line(char first) {
  const bool quality_due = plus_seen_ && quality_ < builder.open_length();
  if (quality_due)
    line_ = Line::quality;
  else if (first == '>' || (first == '@' && mark_ != '>'))
    open_record(first);
  else if (first == '+' && mark_ == '@' && open_ && !plus_seen_)
    line_ = Line::plus, plus_seen_ = true;
  else if (!open_)
    fail("starts with " + shown_letter(first) +
         "; a FASTA record begins with '>', a FASTQ record with '@'");
  else if (plus_seen_)
    fail("more quality values than letters");
  else
    line_ = Line::letters;
}

void SequenceParser::open_record(char mark) {
  if (open_) close_record();
  if (mark_ != 0 && mark != mark_)
    fail(std::string("starts with ") + shown_letter(mark) + " in a file whose records begin with " +
         shown_letter(mark_));
  mark_ = mark;
  line_ = Line::header;
  open_ = true;
  plus_seen_ = false;
  quality_ = 0;
  name_.clear();
  ++record_;
}

void SequenceParser::take(std::string_view part) {
  if (line_ == Line::header) {
    if (keep_names_ || name_.size() < kNameShown) name_ += part;
  } else if (line_ == Line::letters) {
    letters(part);
  } else if (line_ == Line::quality) {
    quality_ += static_cast<int64_t>(part.size()) - std::count(part.begin(), part.end(), '\r');
    if (quality_ > builder.open_length()) fail("more quality values than letters");
  }
}

void SequenceParser::letters(std::string_view part) {
  const int64_t bad = builder.append(part, unknown_is_error_);
  if (bad < 0) return;
  fail(shown_letter(part[static_cast<size_t>(bad)]) + " is not a letter of the alphabet");
}

void SequenceParser::close_line() {
  while (line_ == Line::header && !name_.empty() && blank(name_.back())) name_.pop_back();
  at_line_start_ = true;
  ++line_number_;
}

void SequenceParser::close_record() {
  if (builder.open_length() == 0) fail("the record before this line has no letters");
  if (mark_ == '@' && (!plus_seen_ || quality_ != builder.open_length()))
    fail("the FASTQ record before this line is cut: " + std::to_string(builder.open_length()) +
         " letters, " + std::to_string(quality_) + " quality values");
  builder.finish_record();
  if (!keep_names_) return;
  std::copy(name_.begin(), name_.end(), names.extend(static_cast<int64_t>(name_.size())));
  name_ends.push(names.size());
}

void SequenceParser::finish() {
  if (!at_line_start_) close_line();
  if (open_) close_record();
  open_ = false;
  if (record_ == 0) fail("holds no records");
}

}  // namespace kw

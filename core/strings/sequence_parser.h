// An incremental parser of FASTA and FASTQ. Input arrives in pieces of any size, so that files and
// lines of any length can be parsed with little memory.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "strings/sequences.h"

namespace kw {

// Describes the error, with line and record.
struct ParseError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A letter, quoted or escaped for error messages.
std::string shown_letter(char letter);

class SequenceParser {
 public:
  SequenceParser(const LetterTable& table, bool planes, bool unknown_is_error, bool keep_names)
      : builder(table, planes), unknown_is_error_(unknown_is_error), keep_names_(keep_names) {}

  void feed(std::string_view text);
  void finish();

  SequenceBuilder builder;
  Growing<uint8_t> names;      // concatenated headers without '>' or '@'
  Growing<int64_t> name_ends;  // end of each header

 private:
  enum class Line { start, header, letters, plus, quality };

  void open_line(char first);
  void take(std::string_view part);
  void close_line();
  void open_record(char mark);
  void close_record();
  void letters(std::string_view part);
  [[noreturn]] void fail(const std::string& what) const;

  bool unknown_is_error_, keep_names_;
  Line line_ = Line::start;
  char mark_ = 0;  // '>' or '@'; set by the first record
  int64_t line_number_ = 1, record_ = 0, quality_ = 0;
  bool open_ = false, at_line_start_ = true, plus_seen_ = false;
  std::string name_;
};

}  // namespace kw

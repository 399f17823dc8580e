// SPDX-License-Identifier: Apache-2.0
// Decision tables: which algorithm an operation takes for so many ranks and bytes. Plain text:
//
//     # nhalf decision table 1
//     # operation ranks_from ranks_to bytes_from bytes_to algorithm
//     bcast 2 8 0 2047 binomial
//
// Both ends belong to a rule, `inf` is an upper end, the first rule that matches counts, and where
// none does the algorithm is the library's own.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "contract/options.hpp"
#include "interposer/operations.hpp"

namespace nhalf::coll {

inline constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();

struct Rule {
  Operation operation;
  std::uint64_t ranks_from, ranks_to, bytes_from, bytes_to;
  std::string algorithm;

  [[nodiscard]] bool covers(Operation asked, std::uint64_t ranks) const {
    return asked == operation && ranks_from <= ranks && ranks <= ranks_to;
  }
};

/// A number of a table. Throws InputError.
inline std::uint64_t number_in_table(const std::string& word, bool may_be_endless) {
  if (may_be_endless && word == "inf") return endless;
  std::uint64_t value = 0;
  const auto* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stopped != end)
    throw InputError("'" + word + "' is not a whole number" + (may_be_endless ? " or inf" : ""));
  return value;
}

/// A rule from its line. Throws InputError.
inline Rule rule_in(const std::string& line) {
  std::istringstream words(line);
  std::string operation, ranks_from, ranks_to, bytes_from, bytes_to, algorithm, rest;
  words >> operation >> ranks_from >> ranks_to >> bytes_from >> bytes_to >> algorithm;
  if (algorithm.empty() || words >> rest)
    throw InputError("a rule has six words: operation, ranks and bytes from and to, algorithm");
  const auto known = operation_named(operation);
  if (!known) throw InputError("there is no operation '" + operation + "'");
  const Rule rule{*known,
                  number_in_table(ranks_from, false),
                  number_in_table(ranks_to, true),
                  number_in_table(bytes_from, false),
                  number_in_table(bytes_to, true),
                  algorithm};
  if (rule.ranks_from > rule.ranks_to || rule.bytes_from > rule.bytes_to)
    throw InputError("a range ends before it begins");
  return rule;
}

/// The rules of a table, in order. Throws InputError with the number of the line.
inline std::vector<Rule> parse_table(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::vector<Rule> rules;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (number == 1 && line != "# nhalf decision table 1")
      throw InputError("line 1: not '# nhalf decision table 1'");
    if (line.empty() || line.front() == '#') continue;
    try {
      rules.push_back(rule_in(line));
    } catch (const InputError& error) {
      throw InputError("line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (text.empty()) throw InputError("line 1: not '# nhalf decision table 1'");
  return rules;
}

/// The sizes from the smallest to the largest one that a table may say something of; all of them
/// where none is known.
struct Span {
  std::uint64_t from_bytes = 0;
  std::uint64_t size_bytes = endless;

  [[nodiscard]] bool holds(std::uint64_t asked_bytes) const {
    return asked_bytes - from_bytes < size_bytes;
  }
};

/// What an operation does on a communicator, by bytes: a number per range, 0 outside of all rules.
class Ranges {
 public:
  Ranges() = default;

  /// `number_of` turns the name of an algorithm into its number.
  template <class NumberOf>
  Ranges(const std::vector<Rule>& rules, Operation operation, std::uint64_t ranks,
         NumberOf number_of) {
    std::vector<std::uint64_t> starts{0};
    for (const auto& rule : rules) {
      if (!rule.covers(operation, ranks)) continue;
      starts.push_back(rule.bytes_from);
      if (rule.bytes_to != endless) starts.push_back(rule.bytes_to + 1);
    }
    std::sort(starts.begin(), starts.end());
    for (const auto start : starts) {
      int number = 0;
      for (const auto& rule : rules) {
        if (!rule.covers(operation, ranks)) continue;
        if (rule.bytes_from > start || start > rule.bytes_to) continue;
        number = number_of(rule.algorithm);
        break;
      }
      if (ranges_.empty() || ranges_.back().number != number) ranges_.push_back({start, number});
    }
  }

  /// The number for so many bytes: a search over few ranges, the small ones first.
  [[nodiscard]] int at(std::uint64_t size_bytes) const {
    int number = 0;
    for (const auto& range : ranges_) {
      if (range.start_bytes > size_bytes) break;
      number = range.number;
    }
    return number;
  }
  /// Outside of it the number is 0.
  [[nodiscard]] Span span() const {
    Span found{0, 0};
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (ranges_[i].number == 0) continue;
      if (found.size_bytes == 0) found.from_bytes = ranges_[i].start_bytes;
      const auto end_bytes = i + 1 < ranges_.size() ? ranges_[i + 1].start_bytes : endless;
      found.size_bytes = end_bytes - found.from_bytes;
    }
    return found;
  }

 private:
  struct Range {
    std::uint64_t start_bytes;
    int number;
  };
  std::vector<Range> ranges_;
};

}  // namespace nhalf::coll

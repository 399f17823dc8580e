// Decision tables: the algorithm of an operation by ranks and bytes. Plain text:
//
//     # nhalf decision table 2
//     # operation ranks_from ranks_to bytes_from bytes_to algorithm part
//     bcast 2 8 0 2047 binomial
//     bcast 2 8 2048 inf chain 16384
//
// Both ends belong to a rule, `inf` is an upper end, the first rule that matches counts, and where
// none does the algorithm is the library's own. The bytes of a part, for algorithms that cut
// messages, may be absent; in tables of version 1 they are.
#pragma once

#include <charconv>

#include "algorithms/bases/parts.hpp"
#include "contract/options.hpp"

namespace nhalf::coll {

// The routed operations, with their names in decision tables.

enum class Operation : unsigned char {
  allgather,
  allreduce,
  alltoall,
  barrier,
  bcast,
  gather,
  reduce,
  reduce_scatter,
  scan,
  scatter,
};

inline constexpr std::array<std::string_view, 10> operation_names{
    "allgather", "allreduce", "alltoall",       "barrier", "bcast",
    "gather",    "reduce",    "reduce-scatter", "scan",    "scatter"};

/// A value for each operation.
template <class Value>
using PerOperation = std::array<Value, operation_names.size()>;

constexpr std::size_t index_of(Operation operation) {
  return static_cast<std::size_t>(operation);
}

constexpr std::optional<Operation> operation_named(std::string_view name) {
  for (std::size_t i = 0; i < operation_names.size(); ++i)
    if (operation_names[i] == name) return static_cast<Operation>(i);
  return std::nullopt;
}

/// Ways of an operation: the library's own, shared memory in its variants, copies out of other
/// ranks' memory, or an algorithm of the registry.
namespace way {
inline constexpr int native = 0;
inline constexpr int shared_memory = 1;
inline constexpr int single_copy = 2;
inline constexpr int streaming = 3;
inline constexpr int hierarchical = 4;
inline constexpr int first_algorithm = 5;
}  // namespace way

/// Names of ways that are no algorithm, in decision tables and lessons.
inline constexpr std::array<std::string_view, way::first_algorithm> way_names{
    "native", "shared-memory", "single-copy", "shared-memory-streaming",
    "shared-memory-hierarchical"};

/// Whether an operation can go one of these ways, where the ranks have what it takes.
constexpr bool has_way(Operation operation, int number) {
  using enum Operation;
  switch (number) {
    case way::single_copy:
      return operation != barrier && operation != scan;
    case way::streaming:
      return operation != barrier && operation != scan && operation != reduce_scatter;
    case way::hierarchical:
      return operation == barrier || operation == bcast || operation == allreduce;
    default:
      return true;
  }
}

/// Returns the number of a way that is no algorithm and that an operation can go; -1 if there is
/// none of this name.
constexpr int named_way(Operation operation, std::string_view name) {
  for (int number = 0; number < way::first_algorithm; ++number)
    if (way_names[static_cast<std::size_t>(number)] == name && has_way(operation, number))
      return number;
  return -1;
}

inline constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();

struct Rule {
  Operation operation;
  std::uint64_t ranks_from, ranks_to, bytes_from, bytes_to;
  std::string algorithm;
  std::uint64_t part_bytes = default_part_bytes;

  [[nodiscard]] bool covers(Operation called, std::uint64_t ranks) const {
    return called == operation && ranks_from <= ranks && ranks <= ranks_to;
  }
};

/// Parses a number of a table. Throws InputError.
inline std::uint64_t number_in_table(std::string_view word, bool may_be_endless) {
  if (may_be_endless && word == "inf") return endless;
  std::uint64_t value = 0;
  const auto* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stopped != end)
    throw InputError("'" + std::string(word) + "' is not a whole number" +
                     (may_be_endless ? " or inf" : ""));
  return value;
}

/// Cuts the first word off a text; empty if there is none.
inline std::string_view next_word(std::string_view& text) {
  constexpr std::string_view blanks = " \t\r\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const auto word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

/// Parses a rule. Throws InputError.
inline Rule rule_in(std::string_view line) {
  std::array<std::string_view, 7> words;
  for (auto& word : words) word = next_word(line);
  const auto [operation, ranks_from, ranks_to, bytes_from, bytes_to, algorithm, part] = words;
  if (algorithm.empty() || !next_word(line).empty())
    throw InputError(
        "a rule has six or seven words: operation, ranks and bytes from and to, algorithm, part");
  const auto parsed_operation = operation_named(operation);
  if (!parsed_operation) throw InputError("there is no operation '" + std::string(operation) + "'");
  const auto part_bytes = part.empty() ? default_part_bytes : number_in_table(part, false);
  if (part_bytes == 0) throw InputError("a part has 1 byte or more");
  const Rule rule{*parsed_operation,
                  number_in_table(ranks_from, false),
                  number_in_table(ranks_to, true),
                  number_in_table(bytes_from, false),
                  number_in_table(bytes_to, true),
                  std::string(algorithm),
                  part_bytes};
  if (rule.ranks_from > rule.ranks_to || rule.bytes_from > rule.bytes_to)
    throw InputError("a range ends before it begins");
  return rule;
}

/// Parses the rules of a table, in order. Throws InputError with the line number.
inline std::vector<Rule> parse_table(std::string_view text) {
  std::vector<Rule> rules;
  if (text.empty()) throw InputError("line 1: not '# nhalf decision table 1' or 2");
  for (int number = 1; !text.empty(); ++number) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find_last_not_of("\r ") + 1);
    if (number == 1 && line != "# nhalf decision table 1" && line != "# nhalf decision table 2")
      throw InputError("line 1: not '# nhalf decision table 1' or 2");
    if (line.empty() || line.front() == '#') continue;
    try {
      rules.push_back(rule_in(line));
    } catch (const InputError& error) {
      throw InputError("line " + std::to_string(number) + ": " + error.what());
    }
  }
  return rules;
}

/// The range of sizes that a table covers; all sizes by default.
struct Span {
  std::uint64_t from_bytes = 0;
  std::uint64_t size_bytes = endless;

  [[nodiscard]] bool holds(std::uint64_t call_bytes) const {
    return call_bytes - from_bytes < size_bytes;
  }
};

/// The way of an operation on a communicator by bytes: a number per range, 0 outside of all rules,
/// and the bytes of a part.
class Ranges {
 public:
  Ranges() = default;

  /// Resolves rules; `number_of` turns the name of an algorithm into its number.
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
      Range range{start, 0, default_part_bytes};
      for (const auto& rule : rules) {
        if (!rule.covers(operation, ranks)) continue;
        if (rule.bytes_from > start || start > rule.bytes_to) continue;
        range.number = number_of(rule.algorithm);
        range.part_bytes = rule.part_bytes;
        break;
      }
      if (ranges_.empty() || ranges_.back().number != range.number ||
          ranges_.back().part_bytes != range.part_bytes)
        ranges_.push_back(range);
    }
  }

  /// Returns the number for `size_bytes`, by a search of few ranges, small sizes first.
  [[nodiscard]] int at(std::uint64_t size_bytes) const {
    int number = 0;
    for (const auto& range : ranges_) {
      if (range.start_bytes > size_bytes) break;
      number = range.number;
    }
    return number;
  }
  /// Returns the bytes of a part for `size_bytes`.
  [[nodiscard]] std::size_t part_bytes_at(std::uint64_t size_bytes) const {
    std::size_t part_bytes = default_part_bytes;
    for (const auto& range : ranges_) {
      if (range.start_bytes > size_bytes) break;
      part_bytes = range.part_bytes;
    }
    return part_bytes;
  }
  /// Returns the range of sizes outside of which the number is 0.
  [[nodiscard]] Span span() const {
    Span span{0, 0};
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (ranges_[i].number == 0) continue;
      if (span.size_bytes == 0) span.from_bytes = ranges_[i].start_bytes;
      const auto end_bytes = i + 1 < ranges_.size() ? ranges_[i + 1].start_bytes : endless;
      span.size_bytes = end_bytes - span.from_bytes;
    }
    return span;
  }

 private:
  struct Range {
    std::uint64_t start_bytes;
    int number;
    std::size_t part_bytes;
  };
  std::vector<Range> ranges_;
};

}  // namespace nhalf::coll

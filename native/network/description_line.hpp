// The words of a line of a machine's description, one after the other.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <vector>

namespace nhalf::network {
class DescriptionLine {
 public:
  explicit DescriptionLine(std::string_view line) : rest_(line) {}

  std::string_view word() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const auto next = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(next.size());
    return next;
  }
  template <class Number>
  bool number(Number& value) {
    const auto digits = word();
    const auto* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc{} && stop == end && !digits.empty();
  }
  /// Reads this many numbers.
  template <class Number>
  bool numbers(std::size_t count, std::vector<Number>& values) {
    for (Number value{}; values.size() < count && number(value);) values.push_back(value);
    return values.size() == count;
  }

 private:
  std::string_view rest_;
};
}  // namespace nhalf::network

// Text into values: `key=value` options of transports and the lines of points.
#pragma once

#include <charconv>
#include <map>
#include <stdexcept>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// Wrong input, with one line that says what was wrong.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Named values as text, typed when they are read.
class Options {
 public:
  Options() = default;

  /// Splits "a=1,b=2" (or blanks as separators). Throws InputError when a part is no `key=value`.
  static Options parse(std::string_view text, char separator) {
    Options options;
    while (!text.empty()) {
      const auto cut = std::min(text.find(separator), text.size());
      const auto part = text.substr(0, cut);
      text.remove_prefix(std::min(cut + 1, text.size()));
      if (part.empty()) continue;
      const auto equals = part.find('=');
      if (equals == 0 || equals == std::string_view::npos)
        throw InputError("'" + std::string(part) + "' is not written as key=value");
      options.values_[std::string(part.substr(0, equals))] = std::string(part.substr(equals + 1));
    }
    return options;
  }

  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback = "") const {
    const auto entry = values_.find(name);
    return entry == values_.end() ? fallback : entry->second;
  }

  /// A number, or the fallback when the name is not given. Throws InputError for anything else.
  template <class Number>
  [[nodiscard]] Number number(const std::string& name, Number fallback) const {
    const auto entry = values_.find(name);
    if (entry == values_.end()) return fallback;
    Number result{};
    const auto& written = entry->second;
    const auto [end, error] =
        std::from_chars(written.data(), written.data() + written.size(), result);
    if (error != std::errc{} || end != written.data() + written.size())
      throw InputError(name + "=" + written + " is not a number that fits");
    if constexpr (std::is_floating_point_v<Number>) {
      if (!(result >= 0)) throw InputError(name + "=" + written + " is not a number from 0 up");
    }
    return result;
  }

  /// The values whose names begin with `prefix`, without it.
  [[nodiscard]] Options below(std::string_view prefix) const {
    Options selected;
    for (const auto& [name, value] : values_)
      if (name.starts_with(prefix)) selected.values_[name.substr(prefix.size())] = value;
    return selected;
  }

  [[nodiscard]] const std::map<std::string, std::string>& values() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
};
}  // namespace nhalf

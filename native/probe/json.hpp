// Writing JSON (RFC 8259): objects and arrays are built as text, in order.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <ranges>

#include "contract/vocabulary.hpp"

namespace nhalf::json {
/// A text in quotes, with everything escaped that JSON demands.
inline std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// A number in its shortest form that reads back the same; null where JSON has none (NaN, ∞).
inline std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

inline std::string value(double number_value) {
  return number(number_value);
}
inline std::string value(bool truth) {
  return truth ? "true" : "false";
}
inline std::string value(std::string_view text) {
  return quote(text);
}
inline std::string value(const std::string& text) {
  return quote(text);
}
inline std::string value(const char* text) {
  return quote(text);
}
template <std::integral I>
std::string value(I integer) {
  return std::to_string(integer);
}

/// Text that is JSON already.
struct Raw {
  std::string text;
};
inline std::string value(const Raw& raw) {
  return raw.text;
}

/// An array of anything that `value` can write.
template <std::ranges::input_range Range>
  requires(!std::convertible_to<Range, std::string_view>)
std::string value(const Range& range) {
  std::string out = "[";
  for (const auto& item : range) {
    if (out.size() > 1) out += ',';
    out += value(item);
  }
  return out + ']';
}

/// An object, member by member, in the order given.
class Object {
 public:
  template <class V>
  Object& add(std::string_view name, const V& member) {
    if (text_.size() > 1) text_ += ',';
    text_ += quote(name);
    text_ += ':';
    text_ += value(member);
    return *this;
  }

  [[nodiscard]] std::string text() const { return text_ + '}'; }

 private:
  std::string text_ = "{";
};

inline std::string value(const Object& object) {
  return object.text();
}

/// An object of texts by name.
inline Object members(const std::vector<std::pair<std::string, std::string>>& texts) {
  Object object;
  for (const auto& [name, text] : texts) object.add(name, text);
  return object;
}
}  // namespace nhalf::json

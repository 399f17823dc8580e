// The values of a pattern's axes, as its declaration describes them.
#pragma once

#include <cstdlib>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "contract/pattern.hpp"

namespace nhalf::variation {

using Known = std::map<std::string, std::string>;

/// The number that one end of a range stands for: `4`, `ranks`, `first+1`, `ranks/2`.
inline int end_of(const std::string& text, const Known& known) {
  if (text.find_first_not_of("0123456789") == std::string::npos) return std::stoi(text);
  const auto cut = text.find_first_of("+-/");
  const int value = std::stoi(known.at(text.substr(0, cut)));
  if (cut == std::string::npos) return value;
  const int operand = std::stoi(text.substr(cut + 1));
  if (text[cut] == '/') return value / operand;
  return text[cut] == '+' ? value + operand : value - operand;
}

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, separator);) parts.push_back(part);
  return parts;
}

/// Every value that a text stands for, where `known` are the values of names; perhaps none.
inline std::vector<std::string> expanded(const std::string& text, const Known& known) {
  std::vector<std::string> values;
  for (const auto& item : split(text, ',')) {
    const auto parts = split(item, ':');
    if (parts.size() < 2) {
      const auto name = item.substr(0, item.find_first_of("+-/"));
      values.push_back(known.contains(name) ? std::to_string(end_of(item, known)) : item);
      continue;
    }
    const int factor = parts.size() > 2 ? std::stoi(parts[2].substr(1)) : 0;
    const int last = end_of(parts[1], known);
    for (int value = end_of(parts[0], known); value <= last;
         value = factor > 1 ? value * factor : value + 1)
      values.push_back(std::to_string(value));
  }
  return values;
}

/// What an axis can be beside what is measured where nobody asks.
inline std::string more_values(const std::string& name) {
  static const Known more{{"place", ",in"},          {"start", ",sync,barrier,rotating"},
                          {"buffers", ",warm,cold"}, {"call", ",steady,first"},
                          {"work", ",0,1"},          {"tests", ",1,7"}};
  const auto found = more.find(name);
  return found == more.end() ? "" : found->second;
}

/// One combination as `name=value,…`: every axis has its first or its last value, but `varied` has
/// its value number `number`. Empty where some axis has no value left; `count` are those of
/// `varied`.
inline std::string combination(std::span<const AxisInfo> axes, int ranks, std::size_t varied,
                               std::size_t number, bool last, std::size_t& count) {
  Known known{{"ranks", std::to_string(ranks)}};
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string name(axes[i].name);
    const auto values = expanded(std::string(axes[i].values) + more_values(name), known);
    if (i == varied) count = values.size();
    const auto at = i == varied ? number : last && !values.empty() ? values.size() - 1 : 0;
    if (at >= values.size()) return "";
    known[name] = values[at];
    text += (text.empty() ? "" : ",") + name + "=" + values[at];
  }
  return text;
}

/// The first value of every axis.
inline std::string first_values(std::span<const AxisInfo> axes, int ranks) {
  std::size_t count = 0;
  return combination(axes, ranks, axes.size(), 0, false, count);
}

/// Every value of every axis with the first values of the others and, once more, with the last.
inline std::vector<std::string> variations(std::span<const AxisInfo> axes, int ranks) {
  std::vector<std::string> found{first_values(axes, ranks)};
  for (std::size_t varied = 0; varied < axes.size(); ++varied)
    for (const bool last : {false, true}) {
      std::size_t count = 1;
      for (std::size_t number = 0; number < count; ++number) {
        auto text = combination(axes, ranks, varied, number, last, count);
        if (!text.empty()) found.push_back(std::move(text));
      }
    }
  return found;
}

}  // namespace nhalf::variation

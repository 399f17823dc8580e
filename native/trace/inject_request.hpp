// What a program is to be delayed by, as the environment says it: `latency_s=5000 from=0,1 ...`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "calls/names.hpp"

namespace nhalf::trace {

struct Request {
  double latency_s = 0.0;
  double overhead_s = 0.0;
  double byte_s = 0.0;
  double noise_share = 0.0;
  double slow_share = 0.0;
  int slow_rank = -1;
  /// Ranks that messages come from and go to, and calls that are delayed; all if there are none.
  std::vector<int> from;
  std::vector<int> to;
  std::vector<std::string> calls;

  /// Reads words with a name and a value each; the front end has checked them.
  static Request read(std::string_view text) {
    Request request;
    while (!text.empty()) {
      const auto end = std::min(text.find(' '), text.size());
      const auto word = text.substr(0, end);
      const auto equals = std::min(word.find('='), word.size());
      if (equals < word.size())
        request.take(word.substr(0, equals), std::string(word.substr(equals + 1)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return request;
  }

  /// Returns the share by which computing of a rank takes longer.
  [[nodiscard]] double computing_share(int rank) const {
    return rank == slow_rank ? slow_share : 0.0;
  }
  [[nodiscard]] bool concerns(int source, int target, std::uint16_t call) const {
    return has(from, source) && has(to, target) && concerns_call(call);
  }
  [[nodiscard]] bool delays_messages() const {
    return latency_s > 0 || overhead_s > 0 || byte_s > 0;
  }
  [[nodiscard]] bool concerns_all() const { return from.empty() && to.empty() && calls.empty(); }
  [[nodiscard]] bool concerns_call(std::uint16_t call) const {
    return calls.empty() ||
           std::find(calls.begin(), calls.end(), nhalf::calls::call_names[call]) != calls.end();
  }

 private:
  static bool has(const std::vector<int>& ranks, int rank) {
    return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }
  void take(std::string_view name, const std::string& value) {
    if (name == "latency_s") latency_s = std::strtod(value.c_str(), nullptr);
    if (name == "overhead_s") overhead_s = std::strtod(value.c_str(), nullptr);
    if (name == "byte_s") byte_s = std::strtod(value.c_str(), nullptr);
    if (name == "noise_share") noise_share = std::strtod(value.c_str(), nullptr);
    if (name == "slow_share") slow_share = std::strtod(value.c_str(), nullptr);
    if (name == "slow_rank") slow_rank = std::atoi(value.c_str());
    for (std::size_t begin = 0; begin <= value.size();) {
      const auto end = std::min(value.find(',', begin), value.size());
      const auto word = value.substr(begin, end - begin);
      if (name == "from") from.push_back(std::atoi(word.c_str()));
      if (name == "to") to.push_back(std::atoi(word.c_str()));
      if (name == "calls") calls.push_back(word);
      begin = end + 1;
    }
  }
};

}  // namespace nhalf::trace

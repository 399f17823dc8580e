// What a program is to be delayed by, as the environment says it: `latency_s=5000 from=0,1 ...`.
#pragma once

#include "calls/names.hpp"
#include "trace/layout.hpp"

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

/// How many messages and bytes of an operation of several ranks follow each other, by which its end
/// is delayed: as src/nhalf/decide/program/operation_paths.py has them (Thakur et al., 2005).
struct OperationPath {
  double messages = 0.0;
  double bytes = 0.0;
};

/// Returns the path of a blocking operation for a rank that waits in it; nothing for others.
inline OperationPath path_of(const Subject& subject, int members, int rank) {
  using calls::Data;
  using calls::Flow;
  const auto& traits = calls::call_traits[subject.call];
  const auto& [flow, data, sizes] = traits.operation;
  if (members < 2 || traits.effect != calls::Effect::waits || flow == Flow::among_neighbours)
    return {};
  // A root only sends what goes from it, and others only send what goes to it.
  if (flow != Flow::among_all && flow != Flow::up_to_each &&
      (flow == Flow::to_root) != (subject.partner == rank))
    return {};
  const double rounds = std::bit_width(static_cast<unsigned>(members - 1));
  const double partners = members - 1;
  const auto input_bytes = static_cast<double>(subject.size_bytes);
  const bool is_large = members * input_bytes >= 512 << 10;
  if (data == Data::blocks && flow == Flow::among_all) {
    const double block_bytes = input_bytes / members;
    if (block_bytes <= 256) return {rounds, rounds * members / 2 * block_bytes};
    return {block_bytes < 32 << 10 ? 1.0 : partners, partners * block_bytes};
  }
  if (data == Data::summed_blocks)
    return {input_bytes >= 512 << 10 ? partners : rounds, partners / members * input_bytes};
  if (data == Data::block && flow == Flow::among_all)
    return {is_large ? partners : rounds, partners * input_bytes};
  if (data == Data::block || data == Data::blocks)
    return {sizes == calls::Sizes::varying ? 1 : rounds, partners * input_bytes};
  const bool is_in_parts = data == Data::vector
                               ? subject.size_bytes >= 12 << 10 && members >= 8
                               : flow != Flow::up_to_each && subject.size_bytes > 2 << 10;
  if (is_in_parts) return {2 * rounds, 2 * partners / members * input_bytes};
  return {rounds, rounds * input_bytes};
}

/// Whether all messages of a call are those of an operation that ends with it.
inline bool is_operation(std::uint16_t call) {
  const auto& traits = calls::call_traits[call];
  const auto flow = traits.operation.flow;
  return traits.effect == calls::Effect::waits && flow != calls::Flow::none &&
         flow != calls::Flow::among_neighbours;
}
}  // namespace nhalf::trace

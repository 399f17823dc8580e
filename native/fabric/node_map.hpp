// Which ranks are on one node, as launchers tell the libraries: those of the virtual machine, not
// those of this host. So libraries choose their algorithms, and split communicators, by its nodes.
#pragma once

#include "contract/vocabulary.hpp"

namespace nhalf::fabric {
/// The value of PMI_process_mapping: blocks of first node, number of nodes, ranks on each.
inline std::string process_mapping(const std::vector<int>& nodes) {
  struct Block {
    int node;
    int nodes;
    int ranks;
  };
  std::vector<Block> blocks;
  for (std::size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    while (end < nodes.size() && nodes[end] == nodes[begin]) ++end;
    const Block run{nodes[begin], 1, static_cast<int>(end - begin)};
    const bool continues = !blocks.empty() && blocks.back().ranks == run.ranks &&
                           blocks.back().node + blocks.back().nodes == run.node;
    if (continues)
      ++blocks.back().nodes;
    else
      blocks.push_back(run);
  }
  std::string text = "(vector";
  for (const auto& [node, number, ranks] : blocks)
    text += ",(" + std::to_string(node) + ',' + std::to_string(number) + ',' +
            std::to_string(ranks) + ')';
  return text + ')';
}

/// Returns a launcher's reply with another mapping; nothing if it tells none.
inline std::optional<std::string> with_mapping(std::string_view reply, const std::string& mapping) {
  constexpr std::string_view begin = "value=(vector,";
  const auto value = reply.find(begin);
  if (!reply.starts_with("cmd=get_result") || value == reply.npos) return std::nullopt;
  const auto place = value + begin.find('(');
  const auto end = reply.find_first_of(" ;\n", place);
  if (end == reply.npos) return std::nullopt;
  return std::string(reply.substr(0, place)) + mapping + std::string(reply.substr(end));
}

/// The ranks on the node of one, and its place among them.
struct NodeMates {
  NodeMates(const std::vector<int>& nodes, std::size_t rank) {
    for (std::size_t mate = 0; mate < nodes.size(); ++mate) {
      if (nodes[mate] != nodes[rank]) continue;
      if (mate == rank) place = number;
      if (number > 0) text += ',';
      text += std::to_string(mate);
      ++number;
    }
  }

  int number = 0;
  int place = 0;
  /// The ranks in the form of PMIx, such as 0,2.
  std::string text;
};
}  // namespace nhalf::fabric

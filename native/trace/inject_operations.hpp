// How many messages and bytes of an operation of several ranks follow each other, by which its end
// is delayed: as src/nhalf/decide/program/operation_paths.py has them (Thakur et al., 2005).
#pragma once

#include <bit>
#include <cstdint>

#include "calls/names.hpp"
#include "trace/kinds.hpp"

namespace nhalf::trace {

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

// SPDX-License-Identifier: Apache-2.0
// What one collective operation takes by one of its algorithms, composed of the parts of a machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/all_allgather.hpp"
#include "algorithms/all_allreduce.hpp"
#include "algorithms/all_alltoall.hpp"
#include "algorithms/all_barrier.hpp"
#include "algorithms/all_bcast.hpp"
#include "algorithms/all_gather.hpp"
#include "algorithms/all_reduce.hpp"
#include "algorithms/all_reduce_scatter.hpp"
#include "algorithms/all_scan.hpp"
#include "algorithms/all_scatter.hpp"
#include "composer/ranks.hpp"
#include "contract/buffer.hpp"

namespace nhalf {

/// Addresses that stand for memory which nobody looks at; two that differ are two buffers.
inline MemorySource no_memory{
    .take = [](std::size_t) { return reinterpret_cast<std::byte*>(page_bytes); },
    .give_back = [](std::byte*) {},
    .real_bytes = 0};

/// An operation among `ranks`, of a message, a vector or blocks of `size_bytes`, as its pattern
/// means that.
struct Composition {
  std::string_view operation;
  std::string_view algorithm;
  int ranks;
  std::size_t size_bytes;
};

/// Runs the algorithm once at every rank; nothing where there is none of that name.
template <class Signature, class... Arguments>
std::optional<double> composed_s(const std::vector<Algorithm<ComposedTransport, Signature>>& known,
                                 const MessageParts& parts, const Composition& wanted,
                                 Arguments... arguments) {
  const auto found = std::ranges::find(known, wanted.algorithm,
                                       [](const auto& algorithm) { return algorithm.info.name; });
  if (found == known.end() || found->run == nullptr) return std::nullopt;
  ComposedMachine machine(parts, wanted.ranks);
  machine.fibers.run(wanted.ranks, [&](int rank) {
    ComposedTransport transport(machine, rank);
    Scratch scratch;
    found->run(transport, scratch, arguments...);
  });
  return machine.latest_s();
}

/// Seconds from a common start to the last end; nothing for what is not known.
inline std::optional<double> composed_s(const MessageParts& parts, const Composition& wanted) {
  using namespace algorithms;
  using T = ComposedTransport;
  const auto p = static_cast<std::size_t>(wanted.ranks);
  const auto n = wanted.size_bytes;
  const auto given = [](std::size_t size_bytes) {
    return Bytes{reinterpret_cast<std::byte*>(2 * page_bytes), size_bytes};
  };
  const auto got = [](std::size_t size_bytes) {
    return Bytes{reinterpret_cast<std::byte*>(3 * page_bytes), size_bytes};
  };
  const auto is = [&](std::string_view name) { return wanted.operation == name; };
  // Of a vector that is scattered, every rank gets as many floats as suffice for it.
  const auto block = (n / sizeof(float) + p - 1) / p * sizeof(float);
  if (is("barrier")) return composed_s(barrier::all<T>(), parts, wanted);
  if (is("bcast")) return composed_s(bcast::all<T>(), parts, wanted, 0, got(n));
  if (is("reduce")) return composed_s(reduce::all<T>(), parts, wanted, 0, given(n), got(n));
  if (is("allreduce")) return composed_s(allreduce::all<T>(), parts, wanted, given(n), got(n));
  if (is("scan")) return composed_s(scan::all<T>(), parts, wanted, given(n), got(n));
  if (is("gather")) return composed_s(gather::all<T>(), parts, wanted, 0, given(n), got(p * n));
  if (is("scatter")) return composed_s(scatter::all<T>(), parts, wanted, 0, given(p * n), got(n));
  if (is("allgather")) return composed_s(allgather::all<T>(), parts, wanted, given(n), got(p * n));
  if (is("alltoall"))
    return composed_s(alltoall::all<T>(), parts, wanted, given(p * n), got(p * n));
  if (is("reduce-scatter"))
    return composed_s(reduce_scatter::all<T>(), parts, wanted, given(p * block), got(block));
  return std::nullopt;
}

}  // namespace nhalf

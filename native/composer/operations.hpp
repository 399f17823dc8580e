// Composes the time of a collective operation by an algorithm on the network of a machine.
#pragma once

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
#include "algorithms/bases/parts.hpp"
#include "composer/ranks.hpp"

namespace nhalf {
/// Provides addresses of memory that is never accessed; different addresses are different buffers.
inline MemorySource no_memory{
    .take = [](std::size_t) { return reinterpret_cast<std::byte*>(page_bytes); },
    .give_back = [](std::byte*) {},
    .real_bytes = 0,
    .is_limited = false};

/// An operation among all ranks of a machine; `size_bytes` is the size of its message, vector or
/// blocks, as in its pattern, and `part_bytes` that of a part, for algorithms that cut messages.
struct Composition {
  std::string_view operation;
  std::string_view algorithm;
  std::size_t size_bytes;
  std::size_t part_bytes = default_part_bytes;
};

/// An algorithm of an operation as a rank performs it.
using Performed = std::function<void(ComposedTransport&)>;

/// Returns how ranks perform an algorithm; nothing if there is none of that name, or if it does not
/// cut messages and parts of another size are asked for.
template <class Signature, class... Arguments>
Performed performed(const std::vector<Algorithm<ComposedTransport, Signature>>& algorithms,
                    const Composition& composition, int ranks, Arguments... arguments) {
  const auto chosen = std::ranges::find(algorithms, composition.algorithm,
                                        [](const auto& algorithm) { return algorithm.info.name; });
  if (chosen == algorithms.end() || chosen->run == nullptr) return {};
  const bool is_cut = composition.part_bytes != default_part_bytes;
  if (is_cut && chosen->run_in_parts == nullptr) return {};
  const auto parts = composition.size_bytes / composition.part_bytes;
  if (chosen->run_in_parts != nullptr &&
      parts * static_cast<std::size_t>(ranks) > ComposedMachine::messages_max)
    return {};
  return [=, run = chosen->run, in_parts = chosen->run_in_parts,
          part_bytes = composition.part_bytes](ComposedTransport& transport) {
    Scratch scratch;
    if (is_cut)
      in_parts(transport, arguments..., part_bytes);
    else
      run(transport, scratch, arguments...);
  };
}

/// Returns how ranks perform an operation; nothing for an unknown one.
inline Performed performed(const Composition& composition, int ranks, int root = 0) {
  using namespace algorithms;
  using T = ComposedTransport;
  const auto p = static_cast<std::size_t>(ranks);
  const auto n = composition.size_bytes;
  const auto input = [](std::size_t size_bytes) {
    return Bytes{reinterpret_cast<std::byte*>(2 * page_bytes), size_bytes};
  };
  const auto output = [](std::size_t size_bytes) {
    return Bytes{reinterpret_cast<std::byte*>(3 * page_bytes), size_bytes};
  };
  const auto is = [&](std::string_view name) { return composition.operation == name; };
  // Every rank gets an equal number of floats of a scattered vector, rounded up.
  const auto block = (n / sizeof(float) + p - 1) / p * sizeof(float);
  if (is("barrier")) return performed(barrier::all<T>(), composition, ranks);
  if (is("bcast")) return performed(bcast::all<T>(), composition, ranks, root, output(n));
  if (is("reduce"))
    return performed(reduce::all<T>(), composition, ranks, root, input(n), output(n));
  if (is("allreduce"))
    return performed(allreduce::all<T>(), composition, ranks, input(n), output(n));
  if (is("scan")) return performed(scan::all<T>(), composition, ranks, input(n), output(n));
  if (is("gather"))
    return performed(gather::all<T>(), composition, ranks, root, input(n), output(p * n));
  if (is("scatter"))
    return performed(scatter::all<T>(), composition, ranks, root, input(p * n), output(n));
  if (is("allgather"))
    return performed(allgather::all<T>(), composition, ranks, input(n), output(p * n));
  if (is("alltoall"))
    return performed(alltoall::all<T>(), composition, ranks, input(p * n), output(p * n));
  if (is("reduce-scatter"))
    return performed(reduce_scatter::all<T>(), composition, ranks, input(p * block), output(block));
  return {};
}

/// Runs the algorithm once at every rank; returns how it did, nothing for an unknown one.
inline std::optional<ComposedTimes> composed(const network::Wires& wires,
                                             const Composition& composition) {
  const auto perform = performed(composition, wires.ranks());
  if (!perform) return std::nullopt;
  ComposedMachine machine(wires);
  machine.fibers.run(wires.ranks(), [&](int rank) {
    ComposedTransport transport(machine, rank);
    perform(transport);
    machine.end();
  });
  return machine.times();
}
}  // namespace nhalf

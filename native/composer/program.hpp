// A program as what its ranks compute, send, receive and perform together, on the network of a
// machine: messages of different calls share what they pass, as on the virtual network.
#pragma once

#include <istream>
#include <numeric>
#include <sstream>

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

/// The lines of a program, and its ranks. Peers and roots are numbers of ranks; messages of a
/// channel, from 1 on, are received in the order in which they were sent.
///
///     rank                        what follows is done by the next rank
///     compute PICOSECONDS
///     send TO CHANNEL BYTES       until the buffer may be used again
///     begin TO CHANNEL BYTES      a send that a wait ends
///     wait SENDS... - FROM CHANNEL...    for sends by their place among those begun, and receives
///     meet NUMBER RANKS ROLE IS_ROOT PICOSECONDS    whom it waits for: replay::Role
///     perform OPERATION ALGORITHM BYTES ROOT MEMBERS...
class ComposedProgram {
 public:
  struct Steps {
    std::vector<std::string> lines;
    std::vector<double> ends_s;
  };

  /// Ten times as many messages as one operation may have.
  static constexpr std::uint64_t times = 10;

  ComposedProgram(const network::Wires& wires, std::istream& text) : machine_(wires, times) {
    for (std::string line; std::getline(text, line);)
      if (line == "rank")
        ranks_.emplace_back();
      else if (!ranks_.empty())
        ranks_.back().lines.push_back(line);
    if (ranks_.size() != machine_.ranks.size()) throw InputError("the machine has other ranks");
  }

  /// Runs all ranks to their ends; returns the one that ends last.
  std::size_t run() {
    machine_.fibers.run(static_cast<int>(ranks_.size()), [&](int rank) {
      std::vector<Sent> begun;
      for (const auto& line : of(rank).lines) {
        std::istringstream words(line);
        do_step(rank, words, begun);
        of(rank).ends_s.push_back(seconds(me(rank).clock));
      }
      machine_.end();
    });
    const auto last = std::ranges::max_element(machine_.ranks, {}, &ComposedMachine::Rank::clock);
    return static_cast<std::size_t>(last - machine_.ranks.begin());
  }

  /// When each step of a rank ended.
  [[nodiscard]] const std::vector<double>& ends_s(std::size_t rank) const {
    return ranks_[rank].ends_s;
  }

 private:
  using Sent = ComposedTransport::Request;

  /// An operation of which only is known what it takes once those are there who are waited for.
  struct Meeting {
    std::size_t arrived = 0;
    Picoseconds latest = 0, root = 0;
  };

  enum Role : std::uint8_t { for_all, for_root, for_nobody };

  Steps& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  ComposedMachine::Rank& me(int rank) { return machine_.ranks[static_cast<std::size_t>(rank)]; }
  static double seconds(Picoseconds clock) {
    return static_cast<double>(clock - ComposedMachine::start) * 1e-12;
  }
  static Bytes bytes(std::size_t size) {
    return {reinterpret_cast<std::byte*>(2 * page_bytes), size};
  }
  ComposedTransport transport(int rank, std::uint32_t channel) {
    std::vector<int> members(machine_.ranks.size());
    std::iota(members.begin(), members.end(), 0);
    return {machine_, rank, std::move(members), channel};
  }

  void do_step(int rank, std::istringstream& words, std::vector<Sent>& begun) {
    std::string name;
    words >> name;
    if (name == "compute") {
      me(rank).clock += number(words);
    } else if (name == "send" || name == "begin") {
      const auto to = static_cast<int>(number(words));
      auto own = transport(rank, static_cast<std::uint32_t>(number(words)));
      begun.push_back(own.isend(to, bytes(number(words))));
      if (name == "send") own.wait(begun.back());
    } else if (name == "wait") {
      wait(rank, words, begun);
    } else if (name == "meet") {
      meet(rank, words);
    } else if (name == "perform") {
      perform(rank, words);
    } else {
      throw InputError("'" + name + "' is no step of a program");
    }
  }
  static std::uint64_t number(std::istringstream& words) {
    std::uint64_t read = 0;
    if (!(words >> read)) throw InputError("a step of a program lacks a number");
    return read;
  }

  /// Takes messages in the order in which they arrive.
  void wait(int rank, std::istringstream& words, std::vector<Sent>& begun) {
    std::vector<std::size_t> sends;
    std::string word;
    while (words >> word && word != "-") sends.push_back(std::stoul(word));
    std::vector<std::pair<int, std::uint32_t>> receives;
    for (int from = 0; words >> from;)
      receives.emplace_back(from, static_cast<std::uint32_t>(number(words)));
    while (!receives.empty()) {
      auto first = receives.end();
      machine_.wait(rank, [&] {
        first = std::ranges::min_element(receives, {}, [&](const auto& each) {
          const auto& coming = me(rank).coming(each.first, each.second);
          return coming.empty() ? network::never : coming.front().time;
        });
        return !me(rank).coming(first->first, first->second).empty();
      });
      const auto [from, channel] = *first;
      receives.erase(first);
      transport(rank, channel).recv(from, bytes(~std::size_t{0}));
    }
    auto own = transport(rank, 0);
    for (const auto place : sends) own.wait(begun.at(place));
  }

  void meet(int rank, std::istringstream& words) {
    auto& meeting = meetings_[number(words)];
    const auto count = number(words), role = number(words);
    const bool is_root = number(words) != 0;
    const auto time = number(words);
    meeting.latest = std::max(meeting.latest, me(rank).clock);
    if (is_root) meeting.root = me(rank).clock;
    if (++meeting.arrived == count || is_root) machine_.fibers.wake_all();
    if (role == for_all) {
      machine_.pass_until([&] { return meeting.arrived == count; });
      me(rank).clock = std::max(me(rank).clock, meeting.latest);
    } else if (role == for_root) {
      machine_.pass_until([&] { return meeting.root > 0; });
      me(rank).clock = std::max(me(rank).clock, meeting.root);
    }
    me(rank).clock += time;
  }

  void perform(int rank, std::istringstream& words) {
    std::string operation, algorithm;
    words >> operation >> algorithm;
    const Composition composition{operation, algorithm, number(words)};
    const auto root = static_cast<int>(number(words));
    std::vector<int> members;
    for (int member = 0; words >> member;) members.push_back(member);
    const auto performed_here = performed(composition, static_cast<int>(members.size()), root);
    if (!performed_here) throw InputError("there is no such algorithm");
    ComposedTransport own(machine_, rank, std::move(members), 0);
    performed_here(own);
  }

  ComposedMachine machine_;
  std::vector<Steps> ranks_;
  std::map<std::uint64_t, Meeting> meetings_;
};
}  // namespace nhalf

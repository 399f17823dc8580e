// The network between the ranks of a region: what its messages mean to those that wait for them;
// and whether ranks wait for ever, and who for whom, in words.
#pragma once

#include <linux/futex.h>
#include <climits>
#include <cstdio>

#include "fabric/message.hpp"
#include "fabric/region.hpp"
#include "fabric/times.hpp"
#include "network/flows.hpp"

namespace nhalf::fabric {
/// Lets a rank run that waits for its turn.
inline void wake(Slot& slot) {
  __atomic_store_n(&slot.turn, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &slot.turn, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Ends this process. Hydra takes an end without an error as one; Open MPI's launcher does not, but
/// is silent when it is ended itself, which the program that started the run does meanwhile.
[[noreturn]] inline void end_quietly() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr)
    for (int tenths = 0; tenths < 100; ++tenths) rest(100'000'000);
  // Not by `_exit`, which notes how a program ends (launcher_calls.hpp).
  for (;;) syscall(SYS_exit_group, 0);
}

/// Ends this process if a rank has stopped the run.
inline void end_if_stopped(const Region& region) {
  if (__atomic_load_n(&region.outcome.is_set, __ATOMIC_ACQUIRE) != 0) end_quietly();
}

[[noreturn]] inline void stop(Region& region, std::string_view kind, std::string_view reason) {
  static constexpr std::uint32_t writing = 1;
  static constexpr std::uint32_t written = 2;
  // What the program has just said passes its launcher first, which drops the rest at the end.
  if (kind == "abort") rest(200'000'000);
  auto& outcome = region.outcome;
  std::uint32_t expected = 0;
  if (__atomic_compare_exchange_n(&outcome.is_set, &expected, writing, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    std::snprintf(outcome.text.data(), outcome.text.size(), "%.*s:%.*s",
                  static_cast<int>(kind.size()), kind.data(), static_cast<int>(reason.size()),
                  reason.data());
    __atomic_store_n(&outcome.is_set, written, __ATOMIC_RELEASE);
    for (auto& slot : region.slots) wake(slot);
  }
  end_quietly();
}

/// Messages on their way to a rank, in the order in which they arrive.
class Inbox : public network::Inbox {
 public:
  Inbox(Region& region, int rank) : network::Inbox(region.network, rank) {}

  Message& take() { return static_cast<Message&>(network::Inbox::take()); }
};

/// Wakes ranks, so that whoever hands over the turn lets events happen and they need no process.
class WokenRanks {
 public:
  explicit WokenRanks(Region& region) : region_(region) {}

  void departed(const network::Message& carried, Picoseconds time) {
    const auto& message = static_cast<const Message&>(carried);
    if (message.departure == 0) return;
    region_.at<Departure>(message.departure).at = time;
    wake(message.source.rank, time);
  }
  void arrived(const network::Message& carried, Picoseconds due) {
    const auto& message = static_cast<const Message&>(carried);
    auto& receiver = region_.slots[message.target];
    receiver.accesses += message.is_access ? 1 : 0;
    if (receiver.accesses > 0)
      serve_at(message.target, due);
    else
      wake(message.target, due);
  }
  [[noreturn]] void run_out_of_memory() {
    stop(region_, "memory", "the links of this machine fill the memory");
  }

 private:
  /// Memory is reached at its time, whatever its rank does until then.
  void serve_at(std::uint32_t rank, Picoseconds time) {
    if (has_left(region_.members[rank].presence)) return;
    region_.next[rank] = std::min(region_.next[rank], time);
  }
  void wake(std::uint32_t rank, Picoseconds time) {
    auto& next = region_.next[rank];
    if (region_.slots[rank].is_idle != 0)
      next = std::min(next, std::max(time, region_.members[rank].now));
  }

  Region& region_;
};

class Flows : public network::Flows<WokenRanks> {
 public:
  Flows(Region& region, Heap& heap, const Routes& routes, int ranks)
      : network::Flows<WokenRanks>(region.network, heap, routes, ranks, WokenRanks(region)) {}
};

/// Lets ranks that wait without an event poll once more: their library may have something to do
/// that nothing tells the network of, and a rank that polls for it would keep the turn.
inline void let_all_poll(Region& region, int ranks, Picoseconds time) {
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
    if (region.slots[rank].is_idle != 0 && region.next[rank] == never) region.next[rank] = time;
}

/// Whether all ranks wait, or poll in loops that only a message ends, and none is on its way.
inline bool can_nothing_happen(Region& region, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (has_left(region.members[at].presence)) continue;
    if (region.next[at] != never && region.slots[at].has_polled_long == 0) return false;
    if (Inbox(region, rank).due() != never) return false;
  }
  return true;
}

/// Whether only calls of MPI that start and end a program are waiting.
inline bool is_outside_program(const Region& region, int ranks) {
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    if (region.members[rank].presence != Presence::active) continue;
    const std::string_view call = region.slots[rank].doing.call.data();
    if (!call.starts_with("MPI_Init") && !call.empty()) return false;
  }
  return true;
}

/// Returns for how long no rank may have anything to do before they wait for ever.
inline std::uint64_t quiet_ns_max(const Region& region, int ranks) {
  // Libraries start and end by means that are not this network's.
  return is_outside_program(region, ranks) ? 30'000'000'000 : 2'000'000'000;
}

inline std::string number_or_any(int number, const char* kind) {
  return number == Doing::any ? std::string("any ") + kind
                              : std::string(kind) + " " + std::to_string(number);
}

inline std::string in_words(std::size_t rank, const Doing& doing) {
  std::string text = "rank " + std::to_string(rank) + " waits in " + doing.call.data();
  if (doing.peer == Doing::none) return text;
  text += " for " + number_or_any(doing.peer, "rank");
  if (doing.is_world == 0 && doing.peer != Doing::any) text += " of its communicator";
  if (doing.tag != Doing::none) text += ", " + number_or_any(doing.tag, "tag");
  return text;
}

/// Describes the first ranks that wait, and counts the rest.
inline std::string who_waits(const Region& region, int ranks) {
  static constexpr int described_max = 8;
  std::string text;
  int waiting = 0;
  int over = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    if (region.members[rank].presence != Presence::active) {
      ++over;
      continue;
    }
    if (++waiting > described_max) continue;
    if (!text.empty()) text += "; ";
    text += in_words(rank, region.slots[rank].doing);
  }
  if (waiting > described_max) text += "; and " + std::to_string(waiting - described_max) + " more";
  if (over > 0) text += "; ended: " + std::to_string(over) + " of " + std::to_string(ranks);
  return text;
}
}  // namespace nhalf::fabric

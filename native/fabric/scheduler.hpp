// Who runs: one rank at a time, the one whose next event is earliest, ties by number. So whatever a
// rank does happens at one place of virtual time, and shared state needs no locks.
#pragma once

#include <sched.h>

#include "fabric/flows.hpp"

namespace nhalf::fabric {
// The core on which the next rank runs. One rank runs at a time: on the core of the one before it
// starts at once, while a core that sleeps has to be woken first. Outside its waits a rank may run
// where it was allowed to, and so may the threads that it starts.

/// The cores that the calling thread may use, if they are few enough to be told.
class OwnCores {
 public:
  OwnCores() : is_told_(sched_getaffinity(0, sizeof(cores_), &cores_) == 0) {}

  [[nodiscard]] bool is_told() const { return is_told_; }
  /// Allows them again. It fails only if they are gone, and then the kernel chooses others.
  void restore() const { static_cast<void>(sched_setaffinity(0, sizeof(cores_), &cores_)); }

 private:
  cpu_set_t cores_{};
  bool is_told_;
};

/// Moves a thread that sleeps to this core; whether it may be there.
inline bool move_here(pid_t thread) {
  const int core = sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE) return false;
  cpu_set_t own_core;
  CPU_ZERO(&own_core);
  CPU_SET(core, &own_core);
  return sched_setaffinity(thread, sizeof(own_core), &own_core) == 0;
}

class Scheduler {
 public:
  Scheduler(Region& region, Flows& flows, int self, int ranks)
      : region_(region),
        flows_(flows),
        self_(static_cast<std::size_t>(self)),
        ranks_(static_cast<std::size_t>(ranks)) {}

  /// Takes part from now on; returns when all ranks do and it is this rank's turn.
  void begin() {
    region_.members[self_].process = static_cast<std::uint32_t>(getpid());
    region_.members[self_].presence = Presence::active;
    region_.next[self_] = 0;
    const auto cores = own_cores();
    if (__atomic_add_fetch(&region_.joined, 1, __ATOMIC_ACQ_REL) < ranks_) {
      wait(cores);
      return;
    }
    for (std::size_t rank = 0; rank < ranks_max; ++rank)
      if (rank >= ranks_) region_.next[rank] = never;
    flows_.begin();
    pass();
  }

  /// Takes part no more.
  void end(Presence presence) {
    region_.members[self_].presence = presence;
    region_.next[self_] = never;
    if (const auto next = chosen(); next < ranks_) hand_over(next);
  }

  /// Lets earlier ranks run. It returns at that time, or earlier if no rank has an event, because
  /// libraries also wait for what happens outside the network.
  void pass_until(Picoseconds time) {
    region_.next[self_] = time;
    pass();
  }

  /// Notes a turn without an event; returns for how long no rank has had one, in real time.
  std::uint64_t quiet_ns() {
    const auto now = real_ns();
    if (region_.quiet_since_ns == 0 || region_.quiet_messages != region_.messages) {
      region_.quiet_messages = region_.messages;
      region_.quiet_since_ns = now;
      region_.quiet_turns = 0;
    }
    ++region_.quiet_turns;
    return now - region_.quiet_since_ns;
  }
  /// Whether every rank has had its turn since then, which takes long where processors are busy.
  [[nodiscard]] bool has_gone_round() const { return region_.quiet_turns > 2 * ranks_; }
  void note_event() { region_.quiet_since_ns = 0; }

 private:
  /// Returns the rank with the earliest event, else the next one after this; `ranks_` without any.
  std::size_t chosen() {
    if (const auto best = earliest(); best < ranks_) return best;
    for (std::size_t step = 1; step <= ranks_; ++step) {
      const auto rank = (self_ + step) % ranks_;
      const auto presence = region_.members[rank].presence;
      if (presence == Presence::active || presence == Presence::finished) return rank;
    }
    return ranks_;
  }

  /// Lets messages begin and end that do so before a rank has an event; returns that rank.
  std::size_t earliest() {
    const auto* next = region_.next.data();
    while (true) {
      const auto* best = std::min_element(next, next + ranks_);
      const auto flow = flows_.due();
      if (flow == never || flow > *best)
        return *best == never ? ranks_ : static_cast<std::size_t>(best - next);
      flows_.step();
    }
  }

  void pass() {
    const auto next = chosen();
    if (next == self_) return;
    const auto cores = own_cores();
    hand_over(next);
    wait(cores);
  }
  /// Returns them before another rank has the turn, which moves this one.
  OwnCores own_cores() {
    OwnCores cores;
    const auto thread = static_cast<std::int32_t>(syscall(SYS_gettid));
    region_.slots[self_].thread = cores.is_told() ? thread : 0;
    return cores;
  }
  void hand_over(std::size_t rank) {
    region_.owner = static_cast<std::uint32_t>(rank);
    auto& slot = region_.slots[rank];
    if (slot.thread != 0) slot.is_moved = move_here(slot.thread) ? 1 : 0;
    wake(slot);
  }
  void wait(const OwnCores& cores) {
    auto& slot = region_.slots[self_];
    auto& turn = slot.turn;
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == 0)
      syscall(SYS_futex, &turn, FUTEX_WAIT, 0, nullptr, nullptr, 0);
    __atomic_store_n(&turn, 0, __ATOMIC_RELAXED);
    if (slot.is_moved != 0) cores.restore();
    slot.is_moved = 0;
    end_if_stopped(region_);
  }

  Region& region_;
  Flows& flows_;
  std::size_t self_;
  std::size_t ranks_;
};
}  // namespace nhalf::fabric

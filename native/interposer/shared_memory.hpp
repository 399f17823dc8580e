// Shared memory of the ranks of a node: flags and small buffers, each in separate cache lines.
//
// All operations of a communicator are numbered in the order in which every rank calls them. A rank
// publishes data by writing them to its own slot and then the number of the operation beside them,
// so that data and flag of a small message travel in one line. Slots are used in turn: a rank
// checks only every few operations whether all others are done with the slots that it needs again.
#pragma once

#include <sched.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "contract/buffer.hpp"
#include "host/cores.hpp"

namespace nhalf::coll {

// Waits for another rank of the node.

/// Thrown after the library reported an error and called the error handler.
struct Failed {
  int error;
};

/// Polls without pauses, then with pauses, then yields the core between two polls.
///
/// The peer may be blocked in a message to this rank, which only the library can receive, so
/// `progress` is called from time to time, but not within the usual length of a wait. With
/// oversubscription a wait ends only when another rank runs, so polling is short. An error of the
/// library in `progress` (a peer has ended, the communicator was revoked) is thrown as Failed.
struct Waiting {
  int (*progress)(void* context) = [](void*) { return 0; };
  void* context = nullptr;
  int polls = 400;
  int pauses = 800;

  void yield_soon() {
    polls = 8;
    pauses = 0;
  }

  template <class Condition>
  void until(Condition holds) const {
    for (int i = 0; i < polls; ++i)
      if (holds()) return;
    for (int i = 1; i <= pauses; ++i) {
      if (holds()) return;
      pause_briefly();
      if (i % pauses_per_progress == 0) make_progress();
    }
    for (unsigned i = 1; !holds(); ++i) {
      sched_yield();
      if (i % yields_per_progress == 0) make_progress();
    }
  }

 private:
  void make_progress() const {
    if (const int error = progress(context); error != 0) throw Failed{error};
  }

  static constexpr int pauses_per_progress = 100;
  static constexpr unsigned yields_per_progress = 8;
};

/// Two lines of 64 bytes, for processors fetch neighbours along; some ARM processors have lines of
/// 256 bytes.
#if defined(__aarch64__)
inline constexpr std::size_t apart_bytes = 256;
#else
inline constexpr std::size_t apart_bytes = 128;
#endif

using Number = std::uint64_t;
static_assert(std::atomic<Number>::is_always_lock_free, "processes share no locks");

struct alignas(apart_bytes) Flag {
  std::atomic<Number> number{0};
};

/// The number of an operation with its data, which begin in the same line.
struct alignas(apart_bytes) Slot {
  static constexpr std::size_t size_bytes = 4096;
  static constexpr std::size_t beside_number_bytes = 48;

  std::atomic<Number> number{0};
  alignas(16) std::byte data[size_bytes];
};

/// Flags that only their rank writes: in barriers of ranks with leaders, and to measure flags.
enum class Level : unsigned char { arrived, gathered, released, passed };

/// The lines of one rank, in pages of its own. Flag i of `arrived` is written by the rank that
/// signals in round i.
struct alignas(page_bytes) Lines {
  static constexpr int slots_count = 16;
  static constexpr int rounds_max = 16;

  Flag arrived[rounds_max];
  Flag levels[4];
  Flag done;
  Flag withdrawn;
  Slot slots[slots_count];
};

/// One rank's view of the lines of all; it owns the count of operations, not the memory.
class SharedMemory {
 public:
  static constexpr std::size_t size_bytes(int ranks) {
    return sizeof(Lines) * static_cast<std::size_t>(ranks);
  }
  /// Returns the offset of the lines of a rank.
  static constexpr std::size_t start_of(int rank) { return size_bytes(rank); }

  /// `memory` holds size_bytes(ranks) zeros, from a page on, before any rank gets here.
  SharedMemory(void* memory, int rank, int ranks)
      : lines_(static_cast<Lines*>(memory)), rank_(rank), ranks_(ranks) {}

  Waiting waiting;
  /// Whether data that are taken out of slots pass the caches by.
  bool is_streaming = false;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return ranks_; }

  /// Returns when all ranks have called it.
  void barrier() {
    const Number number = ++number_;
    if (ranks_ <= all_to_all_ranks) {
      signal_all(number);
    } else {
      disseminate(number);
    }
    end(number);
    // A rank that arrived had ended all earlier operations.
    all_done_ = number - 1;
  }

  /// Begins an operation and returns its number.
  Number begin() { return ++number_; }
  /// Waits until the slots of the next `count` operations are free, 16 at most, so that none of
  /// these waits for room while another rank waits for this one.
  void make_room(Number count) {
    const Number next = number_ + count;
    if (all_done_ + Lines::slots_count < next) await_done(next - Lines::slots_count);
  }

  /// Returns this rank's slot for operation `number`.
  std::byte* slot_data(Number number) {
    // Half of the slots are freed at once, since reading another rank's count takes that line from
    // it.
    if (all_done_ + Lines::slots_count < number) await_done(number - Lines::slots_count / 2);
    return slot(rank_, number).data;
  }
  /// Publishes the data in this rank's slot.
  void give(Number number) {
    slot(rank_, number).number.store(number, std::memory_order_release);
    prefetch_to_write(&slot(rank_, number + 1));
  }
  /// Waits for the data of a rank and returns them.
  const std::byte* taken(int from, Number number) {
    const Slot& published = slot(from, number);
    const auto is_given = [&] {
      return published.number.load(std::memory_order_acquire) == number;
    };
    if (is_given()) {
      fetch_ahead(from, number);
    } else {
      waiting.until(is_given);
    }
    return published.data;
  }
  /// Ends an operation: this rank no longer reads the slots of others.
  void end(Number number) { lines_[rank_].done.number.store(number, std::memory_order_release); }
  /// Passes over `count` operations of other ranks, of which this one needs nothing.
  void skip(Number count) { end(number_ += count); }
  /// Tells that this rank returns although others may be reading its memory.
  void withdraw() { lines_[rank_].withdrawn.number.store(1); }
  /// Whether a rank has told so before what this one has read.
  [[nodiscard]] bool has_withdrawn(int rank) const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return lines_[rank].withdrawn.number.load() != 0;
  }
  /// Sets a flag of this rank.
  void raise(Level level, Number number) {
    flag(rank_, level).store(number, std::memory_order_release);
  }
  /// Waits until a rank has set a flag, for this operation or a later one.
  void await(int rank, Level level, Number number) { await(flag(rank, level), number); }

  /// Ends an operation in which this rank has read the slots of all others.
  void end_of_all(Number number) { end(number, number - 1); }
  /// Ends an operation where all others are known to have ended those up to `all_done`.
  void end(Number number, Number all_done) {
    end(number);
    all_done_ = all_done;
  }

 private:
  /// Largest number of ranks at which every rank waits for the flags of all others.
  static constexpr int all_to_all_ranks = 8;
  static constexpr Number ahead = 3;
  static constexpr std::size_t line_bytes = 64;

  /// Prefetches the next slots of a rank that is ahead. It is not called after a wait: those slots
  /// are still empty, and a prefetch would take the line from its writer.
  void fetch_ahead(int from, Number number) {
    for (Number next = number + 1; next <= number + ahead; ++next) {
      const auto* line = reinterpret_cast<const std::byte*>(&slot(from, next));
      __builtin_prefetch(line);
      __builtin_prefetch(line + line_bytes);
    }
  }

  Slot& slot(int rank, Number number) { return lines_[rank].slots[number % Lines::slots_count]; }

  std::atomic<Number>& flag(int rank, Level level) {
    return lines_[rank].levels[static_cast<std::size_t>(level)].number;
  }
  void await(const std::atomic<Number>& flag, Number number) {
    waiting.until([&] { return flag.load(std::memory_order_acquire) >= number; });
  }

  void signal_all(Number number) {
    lines_[rank_].arrived[0].number.store(number, std::memory_order_release);
    for (int i = 1; i < ranks_; ++i) {
      const int peer = rank_ + i < ranks_ ? rank_ + i : rank_ + i - ranks_;
      await(lines_[peer].arrived[0].number, number);
    }
  }

  /// D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier Synchronization", International
  /// Journal of Parallel Programming 17(1), 1988. Numbers grow, so nothing is ever set back; a rank
  /// is at most one barrier ahead of one that it signals.
  void disseminate(Number number) {
    for (int round = 0, distance = 1; distance < ranks_; ++round, distance *= 2) {
      auto& signal = lines_[(rank_ + distance) % ranks_].arrived[round].number;
      signal.store(number, std::memory_order_release);
      await(lines_[rank_].arrived[round].number, number);
    }
  }

  void await_done(Number number) {
    Number all = number_;
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      const auto& done = lines_[peer].done.number;
      await(done, number);
      all = std::min(all, done.load(std::memory_order_acquire));
    }
    all_done_ = all;
  }

  Lines* lines_;
  int rank_;
  int ranks_;
  Number number_ = 0;
  /// Last operation that all ranks are known to have ended.
  Number all_done_ = 0;
};

}  // namespace nhalf::coll

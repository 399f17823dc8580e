// What a replay is asked and what it answers, as columns that their owner keeps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nhalf::replay {
using Place = std::int64_t;
using Number = std::int32_t;

/// Values that somebody else owns.
template <class T>
struct Column {
  T* data = nullptr;
  Place size = 0;

  T& operator[](Place place) const { return data[place]; }
  [[nodiscard]] bool empty() const { return size == 0; }
};

/// What a step does.
enum class Kind : std::uint8_t { send, receive, post, wait, collective };

/// What else is known of a form of steps, as bits.
struct Traits {
  /// A large send returns only when its data is on the way.
  static constexpr std::uint8_t blocks = 1;
  /// A collective operation that another call ends.
  static constexpr std::uint8_t begins = 2;
  /// A call that sends and receives, which has a step of each.
  static constexpr std::uint8_t both_ways = 4;
  /// The library moves large messages in this call.
  static constexpr std::uint8_t progresses = 8;
};

/// Whom a rank waits for in a collective operation.
enum class Role : std::uint8_t { all, root, nobody };

/// The timeline: actors are threads of ranks, and their steps stand one after the other.
struct Script {
  // By actor: its rank, begin and time after its last step, and the times of each of its own steps.
  Column<const Number> rank;
  Column<const double> begin_s, after_s;
  Column<const double* const> before_s, measured_s;
  /// Where the steps of each actor begin, and the end.
  Column<const Place> first;
  // By form of steps.
  Column<const Kind> kind;
  Column<const std::uint8_t> traits;
  /// By step: its form, and its message or its part in an operation, -1 if it has none.
  Column<const Number> form, subject;
  /// Pairs in the order of steps: a step, and a message that it completes; of Waitall many.
  Column<const Number> awaiting, awaited;
  /// Pairs in the order of steps: a step, and one that began a send or an operation it completes.
  Column<const Number> ending, ended;
  // By message: its route, and whether it waits for its receive at any size.
  Column<const Number> route;
  Column<const std::uint8_t> always_waits;
  // By route.
  Column<const Number> source, target;
  Column<const std::int64_t> size_bytes;
  // By part of a rank in an operation: whether the rank is the root others wait for.
  Column<const Number> operation, work;
  Column<const Role> role;
  Column<const std::uint8_t> is_root;
};

/// Seconds of a machine: by route from send to arrival, alone and with one the opposite way, and of
/// the processors at either end; by work of operations, and how much of it goes on while a rank
/// that began one, or comes later than the root, is elsewhere, nothing if none does; by form of
/// waits.
struct Costs {
  Column<const double> way_s, crossing_s, sending_s, receiving_s;
  Column<const double> work_s, hidden_s;
  Column<const double> wait_s;
  /// From this size on a send waits for its receive.
  std::int64_t rendezvous_bytes;
  /// How many times as long computing takes.
  double computing_ratio;
};

/// What a trace took beyond its costs, or nothing: by message at either end and on its way, and the
/// message that came into the same rank before, -1 if none; by route how long a message occupies a
/// port; by part.
struct Contention {
  Column<const double> sending_s, receiving_s, way_s;
  Column<const Number> before;
  Column<const double> occupancy_s;
  Column<const double> operation_s;
};

/// The times of an actor.
struct Spent {
  double end_s, computing_s, messages_s, operations_s, waiting_s;
};

/// What it took. When each step began and ended is kept if there is room for it; of a step that was
/// skipped it is not touched.
struct Answer {
  Column<Spent> spent;
  Column<double> begins_s, ends_s;
  /// Sends that had to go before their receive was posted, since all ranks waited.
  std::int64_t forced;
};
}  // namespace nhalf::replay

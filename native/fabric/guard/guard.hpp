// nhalf-needs: MPI
// Whether everything that a program sends passes the network. A library that takes a way of its
// own, such as shared memory, gives wrong times without an error.
#pragma once

#include <cstdio>

#include "calls/traits.hpp"
#include "fabric/interface.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::fabric {
// Operations that go on after the call that begins them, by their requests: what they have to move,
// and what had passed the network before. A persistent operation keeps its place until it is freed.

/// What is kept of requests or windows: a small table, from which a later one may push out an
/// earlier one.
template <class Handle, class Value, unsigned index_bits>
class HandleTable {
 public:
  void note(Handle handle, const Value& value) {
    place_of(handle) = {calls::number_of(handle), value, true};
  }
  /// Returns what was noted; null if nothing was, or it was pushed out.
  [[nodiscard]] Value* find(Handle handle) {
    auto& place = place_of(handle);
    return place.is_used && place.handle == calls::number_of(handle) ? &place.value : nullptr;
  }
  void remove(Handle handle) {
    if (find(handle) != nullptr) place_of(handle).is_used = false;
  }

 private:
  struct Place {
    std::uint64_t handle;
    Value value;
    bool is_used;
  };

  Place& place_of(Handle handle) {
    const auto mixed = calls::number_of(handle) * 0x9E37'79B9'7F4A'7C15u;
    return places_[static_cast<std::size_t>(mixed >> (64 - index_bits))];
  }

  std::array<Place, std::size_t{1} << index_bits> places_{};
};

template <class Value, unsigned index_bits>
using RequestTable = HandleTable<MPI_Request, Value, index_bits>;

/// What leaves a rank for others at least, and what comes to it from them.
struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::uint64_t arriving_bytes = 0;

  Amount& operator+=(const Amount& further) {
    bytes += further.bytes;
    messages += further.messages;
    arriving_bytes += further.arriving_bytes;
    return *this;
  }
  [[nodiscard]] bool is_something() const { return messages > 0 || arriving_bytes > 0; }
};

/// What has passed the network at this rank by a time.
struct Passed {
  Picoseconds at = 0;
  Amount amount;

  static Passed of(const Interface& network) {
    return {network.now(),
            {network.sent_bytes(), network.sent_messages(), network.received_bytes()}};
  }
};

struct Operation {
  const char* name = nullptr;
  Amount amount;
  /// The ranks of a collective operation that moves something here, else 0.
  int ranks = 0;
  bool is_persistent = false;
  bool is_active = false;
  Passed before;
};

/// An operation that is pushed out is not checked.
inline RequestTable<Operation, 9>& begun_operations() {
  static constinit RequestTable<Operation, 9> operations;
  return operations;
}

class Guard {
 public:
  static Guard& of_process() {
    static constinit Guard guard;
    return guard;
  }
  /// Begins to count what the program moves; libraries have sent messages of their own before.
  void begin(const Interface& network) { earlier_ = Passed::of(network).amount; }
  void note(const Amount& amount) { moved_ += amount; }

  /// Ends the run if an operation took no time, or moved less than it has to. What came for it may
  /// have come before it began, so that is part of the total only.
  static void check_operation(const Interface& network, const char* name, int ranks,
                              const Amount& amount, const Passed& before) {
    if (ranks == 0) return;
    char operation[64];
    std::snprintf(operation, sizeof operation, "%s on %d ranks", name, ranks);
    check(network, operation, {amount.bytes, amount.messages}, before);
  }
  /// Ends the run if accesses to other ranks' memory took no time, or moved less than they have to.
  static void check_accesses(const Interface& network, const Amount& amount, const Passed& before) {
    check(network, "one-sided accesses", amount, before);
  }

  /// Ends the run if less passed the network than the program moved.
  void check_total(const Interface& network) const {
    check_amount(network, "all that a rank sent and got", moved_, earlier_);
  }

 private:
  static void check(const Interface& network, const char* operation, const Amount& amount,
                    const Passed& before) {
    if (network.now() == before.at) {
      char reason[128];
      std::snprintf(reason, sizeof reason, "%s took no time", operation);
      network.stop("bypass", reason);
    }
    check_amount(network, operation, amount, before.amount);
  }
  static void check_amount(const Interface& network, const char* operation, const Amount& amount,
                           const Amount& before) {
    const auto passed = Passed::of(network).amount;
    check_number(network, operation, "bytes sent", amount.bytes, passed.bytes - before.bytes);
    check_number(network, operation, "messages sent", amount.messages,
                 passed.messages - before.messages);
    check_number(network, operation, "bytes received", amount.arriving_bytes,
                 passed.arriving_bytes - before.arriving_bytes);
  }
  static void check_number(const Interface& network, const char* operation, const char* unit,
                           std::uint64_t moved, std::uint64_t passed) {
    if (passed >= moved) return;
    char reason[192];
    std::snprintf(reason, sizeof reason, "%s: %llu of %llu %s passed the network", operation,
                  static_cast<unsigned long long>(passed), static_cast<unsigned long long>(moved),
                  unit);
    network.stop("bypass", reason);
  }

  Amount moved_;
  Amount earlier_;
};
}  // namespace nhalf::fabric

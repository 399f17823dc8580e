// nhalf-needs: MPI
// Whether everything that a program sends passes the network. A library that takes a way of its
// own, such as shared memory, gives wrong times without an error.
#pragma once

#include <cstdint>
#include <cstdio>

#include "fabric/guard/operations.hpp"
#include "fabric/interface.hpp"

namespace nhalf::fabric {

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

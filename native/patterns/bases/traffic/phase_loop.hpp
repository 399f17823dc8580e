// One phase of a dense pattern: every rank has at most one message to send and one to get.
//
// After the kinds of patterns in R. Fatoohi, K. Kardys, S. Koshy, S. Sivaramakrishnan, J. Vetter,
// "Performance evaluation of high-speed interconnects using dense communication patterns", Parallel
// Computing 32 (2006); who exactly meets whom in a phase is our own definition, said at each.
#pragma once

#include <cstdint>

#include "patterns/bases/links.hpp"

namespace nhalf {

/// Whom a rank sends to and hears from in a phase, and how many messages the phase has in all.
struct Phase {
  std::vector<int> to;
  std::vector<int> from;
  int messages = 0;

  /// Both ways between two ranks; below 0: nobody.
  static Phase with(int partner, int pairs) {
    const auto peers = partner < 0 ? std::vector<int>{} : std::vector<int>{partner};
    return {peers, peers, 2 * pairs};
  }
};

/// Sends and receives in one call, again and again. Everybody who sends also hears from somebody,
/// so nobody runs ahead by more rounds than there are ranks. `phase_of` says whom a rank meets.
template <Duplex T, Phase (*phase_of)(int rank, int ranks, const Case& point)>
class PhaseLoop : public Links<T> {
 public:
  PhaseLoop(T& transport, const Case& point)
      : PhaseLoop(transport, point, phase_of(transport.rank(), transport.size(), point)) {}
  void run(std::uint64_t rounds) override {
    if (this->out_.empty()) return;
    T& transport = this->transport_;
    const auto [to, out] = this->out_.front();
    const auto [from, in] = this->in_.front();
    for (auto i = rounds; i > 0; --i) transport.exchange(to, out, from, in);
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

 private:
  PhaseLoop(T& transport, const Case& point, const Phase& phase)
      : Links<T>(transport, point, phase.to, phase.from),
        moved_bytes_(static_cast<std::uint64_t>(phase.messages) * point.size_bytes) {}

  std::uint64_t moved_bytes_;
};

}  // namespace nhalf

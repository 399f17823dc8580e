// When polls that find nothing take virtual time. Libraries poll often in a call, which costs the
// program nothing; a loop of the program's own has to end, so what it does again and again does.
#pragma once

#include "contract/vocabulary.hpp"

namespace nhalf::fabric {
/// What comes of a poll in vain.
enum class VainPoll { is_free, takes_time, waits_for_event };

/// Decides from counters alone, so that it can be tested on plain numbers.
class PollingPolicy {
 public:
  /// Rounds of a loop of the program, or of its library on the clock, that cost nothing.
  static constexpr int free_rounds = 1000;
  /// Polls after a probe that has found a message.
  static constexpr int polls_after_probe = 8;
  /// A lock that is never given back is tried again and again.
  static constexpr int accesses_between_checks = 1000;
  /// Libraries poll several queues at once.
  static constexpr int polls_at_once = 64;
  static constexpr unsigned vain_polls_many = 1024;
  static constexpr unsigned vain_polls_max = 1'000'000;

  /// Returns how often a library may poll after an event, in a call of MPI, before nothing is left
  /// to do. Open MPI calls what is not urgent at every eighth poll. MPICH reaches its own window
  /// through memory that it shares with itself, which it polls as rarely as every hundredth time.
  static int polls_per_event(std::string_view call) {
    return call.starts_with("MPI_Win_") ? 256 : 8;
  }

  void begin_call(std::string_view call) {
    polls_per_event_ = polls_per_event(call);
    free_polls_ = polls_in_call_ = accesses_in_call_ = 0;
  }

  /// Decides what comes of a poll in vain, while something may be complete in another queue.
  VainPoll decide(bool is_nonblocking, bool has_completion_elsewhere) {
    if (free_polls_ > 0) {
      --free_polls_;
      return VainPoll::is_free;
    }
    if (is_nonblocking || has_completion_elsewhere) {
      // Polls of several queues are one poll; where a call waits, it costs nothing.
      const bool is_first = polls_in_call_++ == 0 && is_nonblocking;
      return is_first || polls_in_call_ > polls_at_once ? VainPoll::takes_time : VainPoll::is_free;
    }
    // Libraries go on with what an event allows when they poll again, some not every time.
    return ++polls_since_event_ <= polls_per_event_ ? VainPoll::is_free : VainPoll::waits_for_event;
  }

  void note_vain_poll() { ++vain_polls_; }
  /// Whether ranks that wait should poll again: one may have to do what this rank polls for.
  [[nodiscard]] bool needs_others() const {
    return vain_polls_ >= vain_polls_many && std::has_single_bit(vain_polls_);
  }
  [[nodiscard]] bool may_be_endless() const { return vain_polls_ == vain_polls_max; }
  void forget_vain_polls() { vain_polls_ = 0; }

  /// A library that has found a message polls once more before its call ends, which must not wait.
  void note_probe(bool has_message) { free_polls_ = has_message ? polls_after_probe : 0; }
  /// A wait has ended by an event.
  void note_wake_up() { polls_since_event_ = 0; }
  void note_completion() { polls_since_event_ = polls_in_call_ = 0; }
  /// Something has happened to this rank, or it acts.
  void note_event() { vain_polls_ = polls_since_event_ = 0; }

  /// Counts an access to memory; whether it is time to check that the call may end.
  bool counts_access() { return ++accesses_in_call_ % accesses_between_checks == 0; }
  /// Counts a reading of the clock within a call; whether it takes time.
  bool counts_clock_read() { return ++clock_reads_ > free_rounds; }
  /// The call ends, or its library does something else than read the clock.
  void forget_clock_reads() { clock_reads_ = 0; }
  /// Counts a call that ends, or a reading of the clock between calls; whether these may be a loop
  /// that another rank ends.
  bool counts_round() { return ++rounds_in_turn_ > free_rounds; }
  void note_turn() { rounds_in_turn_ = 0; }
  /// The other ranks have had their turns, but the loop goes on.
  void note_turn_in_loop() { rounds_in_turn_ = free_rounds; }

 private:
  int free_polls_ = 0;
  int polls_in_call_ = 0;
  int polls_since_event_ = 0;
  int polls_per_event_ = polls_per_event({});
  unsigned vain_polls_ = 0;
  int accesses_in_call_ = 0;
  int clock_reads_ = 0;
  int rounds_in_turn_ = 0;
};
}  // namespace nhalf::fabric

// What a launch has once: its first message, its start and its end.
#pragma once

#include "contract/collectives.hpp"
#include "contract/pattern.hpp"

namespace nhalf {
/// Launches are what differs, and what intervals are of.
template <Transport T>
class LaunchTime : public Pattern {
 public:
  explicit LaunchTime(T& transport) : transport_(transport) {}

  /// Nothing that counts, but a batch has to last.
  void run(std::uint64_t rounds) override {
    rounds_ = rounds;
    pass_rounds(transport_, rounds);
  }
  bool verify() override { return true; }
  [[nodiscard]] std::optional<double> timed_s() const override {
    return static_cast<double>(rounds_) * took_s_;
  }

 protected:
  T& transport_;
  double took_s_ = 0;

 private:
  std::uint64_t rounds_ = 1;
};

inline constexpr AxisInfo first_message_axes[] = {
    {"partner", "1:ranks-1:x2", "", "rank to which rank 0 sends; those before it had theirs"},
    {"message", "first,second", "", "the first message to this rank, or the one after it"}};

inline constexpr PatternInfo first_message{
    .name = "first-message",
    .what =
        "a message of rank 0 to a rank until its answer, right after MPI_Init, when neither "
        "was written to before; the same in all samples of a launch",
    .needs = "first-messages",
    .timing = Timing::inner,
    .axes = first_message_axes,
    .sized = false,
    .option = "first=1"};

/// What of it the other ranks know is nothing: they are in no hurry.
template <FirstMessages T>
class FirstMessage : public LaunchTime<T> {
 public:
  FirstMessage(T& transport, const Case& point) : LaunchTime<T>(transport) {
    constexpr std::string_view messages[] = {"first", "second"};
    const auto trips = transport.first_messages(point.axis("partner", 1, transport.size() - 1));
    if (transport.rank() > 0) return;
    this->took_s_ = point.choice("message", messages) == 0 ? trips.first_s : trips.second_s;
    if (this->took_s_ < 0)
      throw InputError(
          "first messages are timed at the start: give --setting 'fresh: mpi.first=1'");
  }
};
NHALF_PATTERN(first_message, FirstMessage);

inline constexpr AxisInfo startup_axes[] = {
    {"part", "init,launch", "",
     "init: MPI_Init; launch: from the call of the launcher until MPI is ready, on its own host; "
     "session: a session of MPI 4 until all ranks have a communicator in it; session-end: its "
     "end"}};

inline constexpr PatternInfo startup{
    .name = "startup",
    .what = "how long this launch took to start, at the slowest rank; the same in all samples",
    .needs = "start-up",
    .timing = Timing::inner,
    .axes = startup_axes,
    .sized = false};

template <StartUp T>
class Startup : public LaunchTime<T> {
 public:
  Startup(T& transport, const Case& point) : LaunchTime<T>(transport) {
    constexpr std::string_view parts[] = {"init", "launch", "session", "session-end"};
    part_ = point.choice("part", parts);
    if (part_ > 1) {
      begin_session();
      return;
    }
    this->took_s_ = part_ == 0 ? transport.initialised_s() : transport.launched_s();
    if (this->took_s_ < 0)
      throw InputError("when the launcher was called is known on its own host only");
  }

  bool verify() override { return part_ < 2 || session_.is_right; }

  std::vector<Value> values() override {
    if (part_ != 2) return {};
    return {{"initialised_s", session_.initialised_s}, {"communicator_s", session_.communicator_s}};
  }

 private:
  /// The first one of this launch counts: it makes what later ones find.
  void begin_session() {
    if constexpr (Sessions<T>) {
      static const SessionTimes first = this->transport_.session();
      session_ = first;
      this->took_s_ = part_ == 2 ? first.initialised_s + first.communicator_s : first.finalised_s;
    } else {
      throw InputError("this library has no sessions: they came with MPI 4");
    }
  }

  std::size_t part_ = 0;
  SessionTimes session_;
};
NHALF_PATTERN(startup, Startup);

inline constexpr PatternInfo finalize{
    .name = "finalize",
    .what = "how long rank 0 is in MPI_Finalize, which all ranks call together; it ends the launch",
    .needs = "start-up",
    .timing = Timing::launch_end,
    .sized = false};

/// What is timed is the end of the program itself, after the last point.
template <StartUp T>
class Finalize : public Pattern {
 public:
  Finalize(T& transport, const Case&) : transport_(transport) {}

  void run(std::uint64_t) override { transport_.barrier(); }
  bool verify() override { return true; }

 private:
  T& transport_;
};
NHALF_PATTERN(finalize, Finalize);
}  // namespace nhalf

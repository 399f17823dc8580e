// Operations of all ranks without data: barriers, and making communicators.
#pragma once

#include "algorithms/all_barrier.hpp"
#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {
inline constexpr PatternInfo barrier_info{
    .name = "barrier",
    .what = "no rank goes on before all have come; messages have no size",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = algorithm_axes,
    .sized = false};

template <Collectives T>
class Barrier : public ChosenOperation<Operation<T>, algorithms::barrier::all<T>,
                                       operations::synchronise, barrier_info> {
 public:
  using Barrier::ChosenOperation::ChosenOperation;

  [[nodiscard]] bool checks_messages() const override { return false; }

  /// One rank after the other comes late: the others have to wait for it.
  bool verify() override {
    const int step = std::max(1, (this->transport_.size() + 1) / ranks_tried);
    for (int late = 0; late < this->transport_.size(); late += step)
      if (!waits_for(late)) return false;
    return true;
  }

 private:
  static constexpr int ranks_tried = 4;

  /// Whether everybody once spends the better half of the delay in the barrier. Where all cores are
  /// busy a rank may begin late itself and wait for less: longer delays are tried before that is
  /// held against the barrier.
  bool waits_for(int late) {
    T& transport = this->transport_;
    bool waited = transport.rank() == late;
    for (double delay_s = 1e-3; delay_s < 2; delay_s *= 4) {
      transport.barrier();
      const double began_s = transport.now_s();
      if (transport.rank() == late) idle_until(transport, began_s + delay_s);
      this->run(1);
      waited = waited || transport.now_s() - began_s > delay_s / 2;
      if (transport.all(waited)) return true;
    }
    return false;
  }
};
NHALF_FORMS(barrier_info, Barrier, synchronise);

inline constexpr std::array grain_axis{
    AxisInfo{"grain", "1000:4096000:x4", "0", "nanoseconds of work before each barrier"}};
inline constexpr auto work_barrier_axes = joined(algorithm_axes, grain_axis);

inline constexpr PatternInfo work_barrier_info{
    .name = "work-barrier",
    .what = "every rank works for as long as its grain says, then all wait for each other",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = work_barrier_axes,
    .sized = false};

/// The synthetic loop of bulk-synchronous programs. The work is spinning on the clock, so that what
/// is beyond the grain is the barrier.
template <Collectives T>
class WorkBarrier : public Barrier<T> {
 public:
  WorkBarrier(T& transport, const Case& point)
      : Barrier<T>(transport, point), asked_s_(point.axes.number("grain", 0.0) * 1e-9) {
    if (!(asked_s_ >= 0)) throw InputError("axis grain is from 0 up");
  }

  bool verify() override {
    grain_s_ = 0;
    return Barrier<T>::verify();
  }
  void prepare() override { grain_s_ = asked_s_; }

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    for (; rounds > 0; --rounds) {
      if (grain_s_ > 0) idle_until(transport, transport.now_s() + grain_s_);
      Barrier<T>::run(1);
    }
  }

 private:
  double asked_s_;
  double grain_s_ = 0;
};
NHALF_PATTERN(work_barrier_info, WorkBarrier);

inline constexpr std::array communicator_axis{
    AxisInfo{"by", "duplicate,split", "", "of the same ranks, or of every other rank"}};
inline constexpr auto communicator_axes = joined(lasting_axes, communicator_axis);

inline constexpr PatternInfo communicator_info{
    .name = "communicator",
    .what = "a communicator is made and freed by all ranks",
    .needs = "communicators",
    .timing = Timing::operation,
    .axes = communicator_axes,
    .sized = false};
template <Communicators T>
class Communicator : public Operation<T> {
 public:
  Communicator(T& transport, const Case& point)
      : Operation<T>(transport, point), splits_(point.choice("by", ways) == 1) {}

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) {
      if (splits_) {
        this->transport_.split();
      } else {
        this->transport_.duplicate();
      }
    }
  }
  [[nodiscard]] bool checks_messages() const override { return false; }

  /// There is no data; a library that cannot make one ends the program.
  bool verify() override {
    run(1);
    return true;
  }

 private:
  static constexpr std::string_view ways[] = {"duplicate", "split"};

  bool splits_;
};
NHALF_PATTERN(communicator_info, Communicator);
}  // namespace nhalf

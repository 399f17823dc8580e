// Operations that are started and waited for, with work in between: how much of it is for free.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "contract/collectives.hpp"
#include "patterns/bases/collectives/operation.hpp"
#include "timing/statistics.hpp"

namespace nhalf {

inline constexpr std::array work_axes{
    AxisInfo{"work", "0,1", "0",
             "1: between start and wait the rank works for as long as the operation takes alone"},
    AxisInfo{"tests", "0", "0", "how often the work is interrupted to test for the end"}};

/// The part of an operation that is hidden behind work, from 0 to 1: (pure + work - total) /
/// min(pure, work), as the Intel MPI Benchmarks' user guide defines it for IMB-NBC.
inline double overlap_share(double pure_s, double work_s, double total_s) {
  const double shorter_s = std::min(pure_s, work_s);
  if (shorter_s <= 0) return 0;
  return std::clamp((pure_s + work_s - total_s) / shorter_s, 0.0, 1.0);
}

/// The operation Blocking, with its buffers, data and checks, as it is started and waited for.
///
/// With work=1 the work is spinning on the clock, as long as the operation takes without it: the
/// median over the slowest ranks, found after the verification. Samples then hold start, work and
/// wait. In the end both are timed in turn, from a barrier on, so that the overlap compares like
/// with like.
template <NonBlockingCollectives T, class Blocking>
class Overlapped : public Blocking {
 public:
  Overlapped(T& transport, const Case& point)
      : Blocking(transport, point), tests_(point.axes.number("tests", 0)) {
    constexpr std::string_view words[] = {"0", "1"};
    works_ = point.choice("work", words) == 1;
    if (tests_ < 0) throw InputError("axis tests is from 0 up");
  }

  bool verify() override {
    work_s_ = 0;
    return Blocking::verify();
  }
  void prepare() override {
    work_s_ = 0;
    if (works_) work_s_ = pure_s();
  }

  std::vector<Value> values() override {
    if (!works_) return {};
    const double work_s = work_s_;
    std::vector<double> pure, total;
    for (int i = repetitions(work_s); i > 0; --i) {
      pure.push_back(slowest_s(0));
      total.push_back(slowest_s(work_s));
    }
    const double alone_s = median(pure);
    const double together_s = median(total);
    return {{"pure_s", alone_s},
            {"work_s", work_s},
            {"total_s", together_s},
            {"overlap", overlap_share(alone_s, work_s, together_s)}};
  }

 protected:
  /// The timed part: `start` is the call that starts the operation.
  template <class Start>
  void overlap(std::uint64_t rounds, Start start) {
    T& transport = this->transport_;
    for (; rounds > 0; --rounds) {
      auto request = start();
      if (work_s_ > 0) work(request);
      transport.wait(request);
    }
  }

 private:
  /// Enough repetitions for a tenth of a second and for a median; every rank makes as many. Virtual
  /// time needs one.
  int repetitions(double pure_s) const {
    if (is_exact<T> || has_virtual_clock(this->transport_)) return 1;
    return static_cast<int>(std::clamp(0.1 / std::max(pure_s, 1e-9), 3.0, 51.0));
  }

  /// Equal pieces of work with a test after each but the last; tests come on top of the work.
  void work(typename T::CollectiveRequest& request) {
    T& transport = this->transport_;
    const double piece_s = work_s_ / (tests_ + 1);
    for (int i = 0; i < tests_; ++i) {
      idle_until(transport, transport.now_s() + piece_s);
      transport.test(request);
    }
    idle_until(transport, transport.now_s() + piece_s);
  }

  /// The slowest rank's time of one operation with this much work; at rank 0 only.
  double slowest_s(double work_s) {
    work_s_ = work_s;
    this->transport_.barrier();
    const double began_s = this->transport_.now_s();
    this->run(1);
    const double own_s = this->transport_.now_s() - began_s;
    const auto everyone_s = collect(this->transport_, std::span(&own_s, 1));
    return everyone_s.empty() ? 0 : *std::ranges::max_element(everyone_s);
  }

  /// The time of an operation without work, at every rank; taken again until it does not fall any
  /// more, for libraries may be quicker after some tens of operations.
  double pure_s() {
    constexpr int looks = 10;
    double found_s = slowest_s(0);
    share(this->transport_, found_s);
    double before_s = std::numeric_limits<double>::infinity();
    for (int look = 0; look < looks && found_s < 0.9 * before_s; ++look) {
      std::vector<double> times;
      for (int i = repetitions(found_s); i > 0; --i) times.push_back(slowest_s(0));
      before_s = found_s;
      found_s = median(times);
      share(this->transport_, found_s);
    }
    return found_s;
  }

  int tests_;
  bool works_ = false;
  double work_s_ = 0;
};

}  // namespace nhalf

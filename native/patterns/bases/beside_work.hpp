// What an operation takes alone, and beside work that takes as long.
#pragma once

#include "contract/pattern.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
/// The part of an operation that is hidden behind work, from 0 to 1: (pure + work - total) /
/// min(pure, work), as the Intel MPI Benchmarks' user guide defines it for IMB-NBC.
inline double overlap_share(double pure_s, double work_s, double total_s) {
  const double shorter_s = std::min(pure_s, work_s);
  if (shorter_s <= 0) return 0;
  return std::clamp((pure_s + work_s - total_s) / shorter_s, 0.0, 1.0);
}

/// The work beside the operations of a pattern, and what it hides.
///
/// If it is to work, the work is spinning on the clock, as long as the operation takes without it:
/// the median over the slowest ranks, found after the verification. In the end both are timed in
/// turn, from a barrier on, so that the overlap compares like with like. Apart from the patterns,
/// which are many: it is compiled once.
template <Transport T>
class BesideWork {
 public:
  BesideWork(T& transport, bool works) : transport_(transport), works_(works) {}

  void leave_out() { work_s_ = 0; }
  void learn(Pattern& operation) {
    work_s_ = 0;
    if (works_) work_s_ = pure_s(operation);
  }
  /// Seconds for which ranks are to work now; 0 if they are not.
  [[nodiscard]] double duration_s() const { return work_s_; }

  std::vector<Value> values(Pattern& operation) {
    if (!works_) return {};
    const double work_s = work_s_;
    std::vector<double> pure, total;
    for (int i = repetitions(work_s); i > 0; --i) {
      pure.push_back(slowest_s(operation, 0));
      total.push_back(slowest_s(operation, work_s));
    }
    const double alone_s = median(pure);
    const double together_s = median(total);
    return {{"pure_s", alone_s},
            {"work_s", work_s},
            {"total_s", together_s},
            {"overlap", overlap_share(alone_s, work_s, together_s)}};
  }

 protected:
  T& transport_;

 private:
  /// Enough repetitions for a tenth of a second and for a median; every rank makes as many. Virtual
  /// time needs one.
  int repetitions(double pure_s) const {
    if (is_exact<T> || has_virtual_clock(transport_)) return 1;
    return static_cast<int>(std::clamp(0.1 / std::max(pure_s, 1e-9), 3.0, 51.0));
  }

  /// The slowest rank's time of one operation with this much work; at rank 0 only.
  double slowest_s(Pattern& operation, double work_s) {
    work_s_ = work_s;
    transport_.barrier();
    const double began_s = transport_.now_s();
    operation.run(1);
    return longest_of(collect_times(transport_, transport_.now_s() - began_s));
  }

  /// The time of an operation without work, at every rank; taken again until it does not fall any
  /// more, for libraries may be quicker after some tens of operations.
  double pure_s(Pattern& operation) {
    constexpr int looks = 10;
    double least_s = slowest_s(operation, 0);
    share(transport_, least_s);
    double before_s = std::numeric_limits<double>::infinity();
    for (int look = 0; look < looks && least_s < 0.9 * before_s; ++look) {
      std::vector<double> times;
      for (int i = repetitions(least_s); i > 0; --i) times.push_back(slowest_s(operation, 0));
      before_s = least_s;
      least_s = median(times);
      share(transport_, least_s);
    }
    return least_s;
  }

  bool works_;
  double work_s_ = 0;
};
}  // namespace nhalf

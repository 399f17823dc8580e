#pragma once

#include <algorithm>

#include "algorithms/all_barrier.hpp"
#include "patterns/bases/collectives/chosen_algorithm.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/operation.hpp"

namespace nhalf {

inline constexpr PatternInfo barrier_info{
    .name = "barrier",
    .what = "no rank goes on before all have come; messages have no size",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = algorithm_axes,
    .sized = false};

template <Collectives T>
class Barrier : public ChosenOperation<T, Operation, algorithms::barrier::all<T>> {
 public:
  Barrier(T& transport, const Case& point)
      : Barrier::ChosenOperation(barrier_info, transport, point, 0, 0,
                                 [](T& t, Scratch&) { t.synchronise(); }) {}

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
NHALF_PATTERN(barrier_info, Barrier);
NHALF_FORMS(barrier_info, Barrier, synchronise);

}  // namespace nhalf

#pragma once

#include <array>
#include <cstdint>

#include "patterns/bases/active_messages/active_pair.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {

inline constexpr std::array<std::string_view, 2> am_first_imports{"start", "demand"};
inline constexpr AxisInfo am_first_axes[] = {
    {"import", "start,demand", "start",
     "start: rank 0 has mapped the memory of rank 1 before; demand: the request does it"}};

inline constexpr PatternInfo am_first{
    .name = "am-first",
    .what =
        "short active message to a rank whose memory may not be mapped yet, and its reply; "
        "time of both",
    .needs = "active-messages",
    .timing = Timing::inner,
    .axes = am_first_axes,
    .sized = false};

template <ActiveMessages T>
class AmFirst : public ActivePair<AmFirst<T>, T> {
 public:
  AmFirst(T& transport, const Case& point)
      : ActivePair<AmFirst<T>, T>(transport, point),
        on_demand_(point.choice("import", am_first_imports) == 1),
        watch_(transport) {}

  void run(std::uint64_t rounds) override {
    watch_.reset();
    if (!this->leads()) return ActivePair<AmFirst<T>, T>::run(rounds);
    for (auto i = rounds; i > 0; --i) {
      if (on_demand_) this->transport_.forget(1);
      watch_.time([this] { ActivePair<AmFirst<T>, T>::run(1); });
    }
  }
  [[nodiscard]] std::optional<double> timed_s() const override { return watch_.seconds(); }

  void request() { this->transport_.request_short(1, this->on_request(), {}); }
  void reply(active::Token& token, active::Words, Bytes) {
    this->transport_.reply_short(token, this->on_reply(), {});
  }
  void take(active::Words, Bytes) {}

  [[nodiscard]] bool checks_messages() const override { return false; }

  /// Whoever got here has been answered.
  bool verify() override {
    run(2);
    return true;
  }

 private:
  bool on_demand_;
  Stopwatch<T> watch_;
};

NHALF_PATTERN(am_first, AmFirst);

}  // namespace nhalf

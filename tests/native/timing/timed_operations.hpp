// Operations whose time has a closed form on the simulated machine, and how they are measured.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../claiming.hpp"
#include "contract/options.hpp"
#include "timing/clock.hpp"
#include "timing/global_clock.hpp"
#include "timing/operation_sampler.hpp"
#include "timing/statistics.hpp"
#include "transports/model.hpp"

namespace nhalf::timed_operations {

inline constexpr double o_s = 1.5e-6, o_r = 2.5e-6, g = 6e-6, L = 5e-6;
inline constexpr double way_s = o_s + L + o_r;
inline const std::string given = "o_s=1.5e-6,o_r=2.5e-6,g=6e-6,L=5e-6,G=0,";
inline const std::string wrong_options = "clock_offset_s=1,clock_drift_ppm=100,";

/// A token goes once around, from the root back to it: p messages one after the other.
template <class T>
class Ring : public Pattern {
 public:
  explicit Ring(T& transport) : transport_(transport) {}
  void run(std::uint64_t rounds) override {
    const int ranks = transport_.size();
    const int next = (transport_.rank() + 1) % ranks;
    const int before = (transport_.rank() + ranks - 1) % ranks;
    for (; rounds > 0; --rounds) {
      if (transport_.rank() == 0) transport_.send(next, ConstBytes{});
      transport_.recv(before, Bytes{});
      if (transport_.rank() != 0) transport_.send(next, ConstBytes{});
    }
  }
  bool verify() override {
    run(1);
    return true;
  }
  std::vector<Value> values() override { return {{"own", 42}}; }

 private:
  T& transport_;
};

/// The root sends to all others, one after the other, beginning with the one after it.
template <class T>
class Flat : public Pattern {
 public:
  explicit Flat(T& transport) : transport_(transport) {}
  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) {
      if (transport_.rank() != root_) transport_.recv(root_, Bytes{});
      if (transport_.rank() != root_) continue;
      for (int i = 1; i < transport_.size(); ++i)
        transport_.send((root_ + i) % transport_.size(), ConstBytes{});
    }
  }
  bool verify() override { return true; }
  void root_at(int root) override { root_ = root; }

 private:
  T& transport_;
  int root_ = 0;
};

inline constexpr PatternInfo operation{
    .name = "tested", .what = "", .timing = Timing::operation, .axes = operation_axes};
inline constexpr PatternInfo rooted{.name = "tested",
                                    .what = "",
                                    .timing = Timing::operation,
                                    .axes = operation_axes,
                                    .rooted = true};

struct Asked {
  int ranks = 4;
  std::string options{};
  std::string axes{};
  Effort effort{};
  double delay_s = 0;
  double overhead_s = 0;
};

/// What rank 0 measures; with a delay, announcements reach the last rank that much later.
template <template <class> class Traffic>
Measurement measured(const Asked& asked, const PatternInfo& info = operation) {
  Measurement result;
  const auto options = Options::parse(given + asked.options, ',');
  ModelTransport::launch(0, nullptr, asked.ranks, options, [&](ModelTransport& model) {
    const auto measure = [&](auto& t) {
      using T = std::remove_reference_t<decltype(t)>;
      Traffic<T> pattern(t);
      GlobalClock<T> clock(t);
      clock.synchronise();
      if constexpr (requires { t.delay_s; }) t.delay_s = asked.delay_s;
      const ClockQuality quality{t.clock_resolution_s(), asked.overhead_s};
      OperationSampler<T> sampler(t, quality, asked.effort, clock);
      auto found = sampler.measure(pattern, info, {.axes = Options::parse(asked.axes, ',')});
      if (t.rank() == 0) result = std::move(found);
    };
    Claiming claiming(model);
    if (asked.delay_s > 0) {
      measure(claiming);
    } else {
      measure(model);
    }
  });
  return result;
}

inline double value_of(const Measurement& found, const std::string& name) {
  for (const auto& value : found.values)
    if (value.name == name) return value.value;
  FAIL(name << " is missing");
  return 0;
}

inline double time_of(const Measurement& found) {
  auto samples = found.samples_s;
  REQUIRE(!samples.empty());
  return median(samples);
}

}  // namespace nhalf::timed_operations

// A pattern again and again, and what the process holds meanwhile.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "host/process_use.hpp"

namespace nhalf {

inline constexpr AxisInfo soak_axes[] = {
    {"of", "barrier", "", "the pattern, with the first value of each of its axes"},
    {"calls", "100", "", "rounds of a part"},
    {"part", "1:50", "",
     "of a series in one launch, in any order: `calls` says how many went before"}};

inline constexpr PatternInfo soak{
    .name = "soak",
    .what =
        "a part of a long series of rounds of another pattern; with the memory and the "
        "descriptors of the process that holds most, and a second clock",
    .timing = Timing::inner,
    .axes = soak_axes};

/// What is timed are as many rounds as were asked for, once in a launch: in the batches of the
/// sampler, and in further visits, nothing happens, so that what grows grows by the calls.
template <Transport T>
class Soak : public Pattern {
 public:
  Soak(T& transport, const Case& point)
      : transport_(transport), calls_(point.axis("calls", 1, 1'000'000'000)) {
    const auto name = point.axes.text("of", "barrier");
    const auto& known = patterns<T>();
    const auto entry =
        std::ranges::find(known, name, [](const auto& one) { return one.info.name; });
    if (entry == known.end() || entry->make == nullptr)
      throw InputError("pattern " + name + " is not known here");
    if (entry->info.timing == Timing::launch_end || entry->info.whole_runs || name == soak.name)
      throw InputError("pattern " + name + " has no rounds to repeat");
    if (transport.size() < entry->info.ranks_min)
      throw InputError(name + " needs " + std::to_string(entry->info.ranks_min) + " ranks or more");
    repeated_ = entry->make(transport, {point.size_bytes, {}, point.hosts});
    series_ = &series[transport.rank()];
    done_ = &series_->parts[name + ' ' + std::to_string(point.size_bytes) + ' ' +
                            point.axes.text("part", "1")];
  }

  void run(std::uint64_t rounds) override {
    rounds_ = rounds;
    if (done_->took_s >= 0) {
      idle_until(transport_, transport_.now_s() + 1e-6 * static_cast<double>(rounds));
      return;
    }
    const auto wall_began = std::chrono::system_clock::now();
    const double began_s = transport_.now_s();
    repeated_->run(static_cast<std::uint64_t>(calls_));
    done_->took_s = transport_.now_s() - began_s;
    const std::chrono::duration<double> wall = std::chrono::system_clock::now() - wall_began;
    done_->wall_s = wall.count();
    done_->calls = series_->calls += calls_;
    done_->memory_bytes = resident_bytes();
    done_->descriptors = open_descriptors();
  }
  void prepare() override { repeated_->prepare(); }
  bool verify() override { return repeated_->verify(); }
  bool is_right() override { return repeated_->is_right(); }
  [[nodiscard]] std::optional<double> timed_s() const override {
    return static_cast<double>(rounds_) * done_->took_s / calls_;
  }

  std::vector<Value> values() override {
    std::vector<Value> held{{"memory_bytes", most_of(done_->memory_bytes)},
                            {"descriptors", most_of(done_->descriptors)},
                            {"calls", done_->calls}};
    if (!is_one_thread<T> && !has_virtual_clock(transport_))
      held.push_back({"clocks_ratio", done_->wall_s / done_->took_s});
    return held;
  }

 private:
  /// What there is to say of a part; `calls` went before its end.
  struct Part {
    double took_s = -1;
    double wall_s = 0;
    double calls = 0;
    double memory_bytes = 0;
    double descriptors = 0;
  };

  struct Series {
    double calls = 0;
    std::map<std::string, Part> parts;
  };

  /// The largest of all ranks, at rank 0.
  double most_of(double mine) {
    const auto everyone = collect(transport_, std::span(&mine, 1));
    return everyone.empty() ? mine : *std::ranges::max_element(everyone);
  }

  /// Of this launch, by rank: simulated ones are one thread.
  static inline thread_local std::map<int, Series> series;

  T& transport_;
  int calls_;
  std::unique_ptr<Pattern> repeated_;
  std::uint64_t rounds_ = 1;
  Series* series_ = nullptr;
  Part* done_ = nullptr;
};
NHALF_PATTERN(soak, Soak);

}  // namespace nhalf

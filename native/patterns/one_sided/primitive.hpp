#pragma once

#include <algorithm>
#include <string_view>

#include "contract/segment_life.hpp"
#include "patterns/bases/pair.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {

/// The steps of transport T, or all where it has none of them.
template <class T>
constexpr std::string_view steps_of() {
  if constexpr (SegmentLife<T>) return T::steps;
  return all_steps;
}

template <class T>
inline constexpr AxisInfo primitive_axes[] = {
    {"step", steps_of<T>(), "", "what is timed of the life of a segment"}};

template <class T>
inline constexpr PatternInfo primitive{
    .name = "primitive",
    .what = "one step in the life of a segment: rank 0 exposes it, rank 1 puts and gets all of it",
    .needs = "segment-life",
    .timing = Timing::inner,
    .axes = primitive_axes<T>};

/// Each round is a whole life, of which one step is timed at the rank that takes it.
template <SegmentLife T>
class Primitive : public Pair<T> {
 public:
  Primitive(T& transport, const Case& point)
      : Pair<T>(transport, {.size_bytes = std::max(point.size_bytes, least_bytes)}),
        step_(static_cast<Step>(point.choice("step", step_names))),
        watch_(transport) {
    check(point.axes.text("step"));
  }

  void run(std::uint64_t rounds) override {
    watch_.reset();
    for (auto i = rounds; i > 0; --i)
      this->transport_.segment_life(this->out_.bytes(), this->in_.bytes(),
                                    [&](Step step, auto call) {
                                      if (step == step_)
                                        watch_.time(call);
                                      else
                                        call();
                                    });
  }

  /// What rank 1 got is what it had put.
  bool verify() override {
    this->in_.fill(this->seed_of(-1));
    run(1);
    return this->transport_.rank() != 1 || this->in_.holds(this->seed_of(1));
  }

  [[nodiscard]] std::optional<double> timed_s() const override { return watch_.seconds(); }
  std::vector<Value> values() override { return watch_.values(); }

 private:
  static constexpr std::size_t least_bytes = 8;

  static void check(std::string_view step_name) {
    for (auto names = T::steps; !names.empty();) {
      const auto cut = std::min(names.find(','), names.size());
      if (names.substr(0, cut) == step_name) return;
      names.remove_prefix(std::min(cut + 1, names.size()));
    }
    throw InputError("this transport has no step '" + std::string(step_name) + "'");
  }

  Step step_;
  Stopwatch<T> watch_;
};
NHALF_PATTERN(primitive<ProbeTransport>, Primitive);

}  // namespace nhalf

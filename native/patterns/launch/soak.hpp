// A pattern again and again, and what the process holds meanwhile.
#pragma once

#include "host/kernel_files.hpp"
#include "patterns/launch/first_startup_finalize.hpp"
#include "timing/clock.hpp"

namespace nhalf {
inline constexpr AxisInfo soak_axes[] = {
    {"of", "barrier", "", "the pattern, with the first value of each of its axes"},
    {"calls", "100", "", "rounds of a part"},
    {"part", "1:5", "",
     "of a series in one launch, in any order: `calls` says how many went before"}};

inline constexpr PatternInfo soak{
    .name = "soak",
    .what =
        "a part of a long series of rounds of another pattern; with the memory and the "
        "descriptors of the process that holds most, and a second clock",
    .timing = Timing::inner,
    .axes = soak_axes};

/// The rounds of a part are done once in a launch, before its batches, in which nothing happens:
/// what grows, grows by them.
template <Transport T>
class Soak : public LaunchTime<T> {
 public:
  Soak(T& transport, const Case& point)
      : LaunchTime<T>(transport),
        rounds_(point.axis("calls", 1, 1'000'000'000)),
        repeated_(repeated(transport, point)),
        parts_(parts_by_rank[transport.rank()]),
        part_(parts_[point.axes.text("of") + ' ' + std::to_string(point.size_bytes) + ' ' +
                     point.axes.text("part")]) {}

  void prepare() override {
    const bool is_done = this->transport_.all(part_.calls > 0);
    if (!is_done) {
      repeated_->prepare();
      this->transport_.barrier();
      const double calendar_began_s = calendar_s();
      const double began_s = this->transport_.now_s();
      repeated_->run(static_cast<std::uint64_t>(rounds_));
      const double took_s = this->transport_.now_s() - began_s;
      part_ = {rounds_, took_s, calendar_s() - calendar_began_s, resident_bytes(),
               open_descriptors()};
      for (const auto& [name, part] : parts_) part_.calls_so_far += part.calls;
    }
    this->took_s_ = part_.took_s / rounds_;
  }
  bool verify() override { return repeated_->verify(); }
  bool is_right() override { return repeated_->is_right(); }

  std::vector<Value> values() override {
    std::vector<Value> held{{"memory_bytes", most_of(part_.memory_bytes)},
                            {"descriptors", most_of(part_.descriptors)},
                            {"calls", static_cast<double>(part_.calls_so_far)}};
    if (!is_one_thread<T> && !has_virtual_clock(this->transport_))
      held.push_back({"clocks_ratio", part_.calendar_s / part_.took_s});
    return held;
  }

 private:
  struct Part {
    int calls = 0;
    double took_s = 0;
    double calendar_s = 0;
    double memory_bytes = 0;
    int descriptors = 0;
    std::int64_t calls_so_far = 0;
  };
  using Parts = std::map<std::string, Part>;

  static std::unique_ptr<Pattern> repeated(T& transport, const Case& point) {
    const auto name = point.axes.text("of");
    const auto& all = patterns<T>();
    const auto entry =
        std::ranges::find_if(all, [&](const auto& e) { return e.info.name == name; });
    if (entry == all.end() || entry->make == nullptr || entry->info.whole_runs ||
        entry->info.timing == Timing::launch_end || entry->info.ranks_min > transport.size() ||
        name == soak.name)
      throw InputError("there are no rounds of pattern '" + name + "' to repeat here");
    return entry->make(transport, {point.size_bytes, {}, point.hosts});
  }

  /// The largest of all ranks, at rank 0.
  double most_of(double mine) {
    const auto everyone = collect(this->transport_, std::span(&mine, 1));
    return everyone.empty() ? mine : *std::ranges::max_element(everyone);
  }

  /// What this launch has done; simulated ranks are one thread.
  static inline thread_local std::map<int, Parts> parts_by_rank;

  int rounds_;
  std::unique_ptr<Pattern> repeated_;
  Parts& parts_;
  Part& part_;
};
NHALF_PATTERN(soak, Soak);
}  // namespace nhalf

#pragma once

#include "multicast/all_multicasts.hpp"
#include "multicast/bases/multicast_case.hpp"
#include "patterns/bases/collectives/operation.hpp"
#include "timing/processor_clock.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {
inline constexpr auto multicast_axes = joined(
    operation_axes,
    std::array{
        AxisInfo{"algorithm", "binary,binomial,separate,serial", "", "who forwards to whom"},
        AxisInfo{"forwarding", "host", "", "who makes the copies of a message: here the ranks do"},
        multicast_group_axis, multicast_piece_axis, multicast_draw_axis});

inline constexpr PatternInfo multicast_info{
    .name = "multicast",
    .what = "rank 0's message to several others, from the first send to the last arrival",
    .timing = Timing::operation,
    .axes = multicast_axes};

/// The ways to multicast that know ranks by number only, on messages: a rank forwards each piece
/// as soon as it has it. Who is no destination has nothing to do.
///
/// The processor time of those that take part is a second result, taken after the samples: from the
/// start to each rank's own end. A rank that spins while it waits is busy all that time.
template <Transport T>
class MulticastMessages : public Pattern {
 public:
  MulticastMessages(T& transport, const Case& point)
      : transport_(transport),
        pieces_(pieces_of(point)),
        buffer_(point.size_bytes),
        seed_(static_cast<std::uint32_t>(point.size_bytes)) {
    if constexpr (requires { T::check_size(point.size_bytes); }) T::check_size(point.size_bytes);
    const auto topology = Topology::crossbar(transport.size());
    const auto multicast = drawn_multicast(topology, transport.size(), point);
    destinations_ = multicast.destinations.size();
    take_part(way_named(point.axes.text("algorithm", "separate")).make(multicast));
  }

  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i) {
      auto unsent = buffer_.bytes();
      for (const auto size_bytes : pieces_) {
        const auto piece = unsent.first(size_bytes);
        if (from_) transport_.recv(*from_, piece);
        for (const int peer : to_) transport_.send(peer, piece);
        unsent = unsent.subspan(size_bytes);
      }
    }
  }

  bool verify() override {
    const bool is_source = transport_.rank() == 0;
    buffer_.fill(is_source ? seed_ : seed_ + 1);
    run(1);
    return (!is_source && !from_) || buffer_.holds(seed_);
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return destinations_ * buffer_.size_bytes();
  }

  std::vector<Value> values() override {
    if constexpr (HasProcessorTime<T>) {
      const double own_s = processor_s();
      const auto everyone_s = collect(transport_, std::span(&own_s, 1));
      if (everyone_s.empty()) return {};
      const double sum_s = std::accumulate(everyone_s.begin(), everyone_s.end(), 0.0);
      return {{"host_cpu_s", sum_s / static_cast<double>(destinations_ + 1)},
              {"host_cpu_max_s", *std::ranges::max_element(everyone_s)},
              {"host_cpu_source_s", everyone_s.front()}};
    } else {
      return {};
    }
  }

 private:
  static constexpr int repetitions = 15;

  /// Processor time of one multicast on this rank: the median; 0 where it has no part.
  double processor_s()
    requires HasProcessorTime<T>
  {
    ProcessorClock<T> clock(transport_);
    Stopwatch watch(clock);
    std::array<double, repetitions> times_s;
    for (double& time_s : times_s) {
      watch.reset();
      transport_.barrier();
      watch.time([&] { run(1); });
      time_s = std::max(0.0, watch.seconds().value_or(0));
    }
    return from_ || !to_.empty() ? median(times_s) : 0;
  }

  static const MulticastInfo& way_named(std::string_view name) {
    for (const auto& info : multicasts())
      if (info.name == name && !info.needs_torus) return info;
    throw InputError("axis algorithm has no value '" + std::string(name) + "'");
  }

  /// What of the schedule is this rank's.
  void take_part(const Schedule& schedule) {
    to_ = schedule[static_cast<std::size_t>(transport_.rank())];
    for (std::size_t from = 0; from < schedule.size(); ++from)
      if (std::ranges::find(schedule[from], transport_.rank()) != schedule[from].end())
        from_ = static_cast<int>(from);
  }

  T& transport_;
  std::vector<std::size_t> pieces_;
  Buffer buffer_;
  std::uint32_t seed_;
  std::size_t destinations_ = 0;
  std::optional<int> from_;
  std::vector<int> to_;
};
NHALF_PATTERN(multicast_info, MulticastMessages);
}  // namespace nhalf

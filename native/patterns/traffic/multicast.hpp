// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/buffer.hpp"
#include "contract/pattern.hpp"
#include "multicast/all_multicasts.hpp"
#include "multicast/bases/multicast_case.hpp"
#include "patterns/bases/collectives/operation.hpp"

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
      auto rest = buffer_.bytes();
      for (const auto size_bytes : pieces_) {
        const auto piece = rest.first(size_bytes);
        if (from_) transport_.recv(*from_, piece);
        for (const int peer : to_) transport_.send(peer, piece);
        rest = rest.subspan(size_bytes);
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

 private:
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

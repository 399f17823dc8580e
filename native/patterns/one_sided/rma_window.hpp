#pragma once

#include <array>

#include "contract/windows.hpp"
#include "patterns/bases/collectives/operation.hpp"

namespace nhalf {

inline constexpr std::array made_window_axis{
    AxisInfo{"window", "allocate", "allocate",
             "where its memory comes from: allocate, create, dynamic or shared"}};
inline constexpr auto made_window_axes = joined(lasting_axes, made_window_axis);

inline constexpr PatternInfo rma_window_info{
    .name = "rma-window",
    .what = "a window is made and freed by all ranks; the size is that of each rank's memory",
    .needs = "windows, collectives",
    .timing = Timing::operation,
    .axes = made_window_axes};

template <class T>
  requires Windows<T> && Collectives<T>
class RmaWindow : public Operation<T> {
 public:
  RmaWindow(T& transport, const Case& point)
      : Operation<T>(transport, point, 0, 0),
        kind_(static_cast<WindowKind>(point.choice("window", window_kinds))) {}

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) {
      auto window =
          this->transport_.open_window(this->size_bytes_, kind_, WindowAccess::fence, {}, {});
      this->transport_.close_window(window);
    }
  }
  /// Memory that is new holds zeros.
  bool verify() override {
    auto window =
        this->transport_.open_window(this->size_bytes_, kind_, WindowAccess::fence, {}, {});
    const bool good =
        std::ranges::all_of(window.local(), [](std::byte b) { return b == std::byte{0}; });
    this->transport_.close_window(window);
    return good;
  }

 private:
  WindowKind kind_;
};
NHALF_PATTERN(rma_window_info, RmaWindow);

}  // namespace nhalf

// What patterns of collective operations have in common: buffers, a root, in place or not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "contract/blocks.hpp"
#include "contract/buffer.hpp"
#include "contract/collectives.hpp"
#include "contract/operation_axes.hpp"
#include "contract/pattern.hpp"
#include "patterns/bases/collectives/operations.hpp"

namespace nhalf {

/// Several lists of axes as one.
template <std::size_t... Counts>
constexpr auto joined(const std::array<AxisInfo, Counts>&... lists) {
  std::array<AxisInfo, (Counts + ...)> all;
  auto next = all.begin();
  ((next = std::copy(lists.begin(), lists.end(), next)), ...);
  return all;
}

inline constexpr std::array place_axis{
    AxisInfo{"place", "out", "out",
             "in: the result comes where the data was (MPI_IN_PLACE); out: elsewhere"}};

inline constexpr auto in_place_axes = joined(operation_axes, place_axis);

/// One collective operation with its buffers at one rank. A pattern says, in `aim`, which bytes it
/// gives and gets when `root_` is the root, and checks them for real.
template <Collectives T>
class Operation : public Pattern {
 public:
  void root_at(int root) override {
    root_ = root;
    aim();
  }

 protected:
  /// Room for what any rank may have to give and to get, as root or not.
  Operation(T& transport, const Case& point, std::size_t in_bytes, std::size_t out_bytes)
      : transport_(transport),
        size_bytes_(checked(point.size_bytes)),
        in_place_(wants_in_place(point)),
        in_buffer_(in_bytes),
        out_buffer_(out_bytes) {
    Operation::aim();
  }

  /// Points `in_` and `out_` at what this rank gives and gets: all that there is, unless a pattern
  /// knows better and says so once it is made.
  virtual void aim() {
    out_ = out_buffer_.bytes();
    in_ = in_place_ ? out_ : in_buffer_.bytes();
  }

  [[nodiscard]] static bool wants_in_place(const Case& point) {
    constexpr std::string_view places[] = {"out", "in"};
    return point.choice("place", places) == 1;
  }
  [[nodiscard]] Operands operands() const {
    return {.root = root_, .in = in_, .out = out_, .counts = {}, .offsets = {}};
  }
  [[nodiscard]] bool is_root() const { return transport_.rank() == root_; }

  using Pattern::run;
  T& transport_;
  std::size_t size_bytes_;
  bool in_place_;
  int root_ = 0;
  Buffer in_buffer_;
  Buffer out_buffer_;
  Bytes in_;
  Bytes out_;

 private:
  /// A size that one call can name, where the transport has a limit.
  static std::size_t checked(std::size_t size_bytes) {
    if constexpr (requires { T::check_size(size_bytes); }) T::check_size(size_bytes);
    return size_bytes;
  }
};

}  // namespace nhalf

#pragma once

#include <climits>

#include "contract/messages.hpp"
#include "patterns/bases/pairs/pingpong_loop.hpp"

namespace nhalf {
inline constexpr AxisInfo layout_axes[] = {
    {"layout", "vector,indexed,struct,contiguous", "",
     "blocks with equal gaps, with gaps that differ, of two halves each, or without gaps"},
    {"by", "type,hand", "",
     "type: a derived data type of MPI; hand: a loop that copies blocks together, and back; pack: "
     "the same by the calls of MPI; external32: by those that convert integers to the form of any "
     "machine, and back"},
    {"block", "64", "64", "bytes that lie together: 8 to 65536, a power of two"}};

inline constexpr PatternInfo pingpong_layout{
    .name = "pingpong-layout",
    .what = "ping-pong of data that does not lie together; the size is that of the data alone",
    .needs = "data-types",
    .messages_per_round = 2,
    .axes = layout_axes,
    .size_multiple = 64,
    .on_host = true};

/// Data lies in memory of its own on either side; packed it goes through the buffers of a pair.
template <DataTypes T>
class PingPongLayout : public PingPongLoop<T> {
 public:
  PingPongLayout(T& transport, const Case& point)
      : PingPongLoop<T>(transport, point),
        layout_(Layout::of(static_cast<LayoutKind>(point.choice("layout", layout_kinds)),
                           block_of(point), point.size_bytes)),
        out_data_(layout_.extent_bytes),
        in_data_(layout_.extent_bytes),
        by_(point.choice("by", ways)),
        type_(transport.data_type(layout_, by_ == external)) {}
  ~PingPongLayout() override { this->transport_.release_type(type_); }

  void run(std::uint64_t rounds) override {
    if (by_ == 0) {
      this->loop(
          rounds,
          [this](T& t, int peer, ConstBytes) { t.send_typed(peer, out_data_.bytes(), type_); },
          [this](T& t, int peer, Bytes) { t.recv_typed(peer, in_data_.bytes(), type_); });
    } else if (by_ == 1) {
      this->loop(
          rounds,
          [this](T& t, int peer, ConstBytes) {
            layout_.pack(out_data_.bytes(), this->out_.bytes());
            t.send(peer, this->out_.bytes());
          },
          [this](T& t, int peer, Bytes packed) {
            t.recv(peer, packed);
            layout_.unpack(packed, in_data_.bytes());
          });
    } else if (by_ == 2) {
      packed_loop(
          rounds, [](T& t, auto... data) { t.pack(data...); },
          [](T& t, auto... data) { t.unpack(data...); });
    } else {
      packed_loop(
          rounds, [](T& t, auto... data) { t.pack_external(data...); },
          [](T& t, auto... data) { t.unpack_external(data...); });
    }
  }

  /// Gaps are looked at, too: nothing is written there.
  bool verify() override {
    Buffer packed(layout_.size_bytes());
    packed.fill(this->seed_of(this->transport_.rank()));
    layout_.unpack(packed.bytes(), out_data_.bytes());
    std::ranges::fill(in_data_.bytes(), std::byte{7});
    run(1);
    if (!this->takes_part()) return true;
    layout_.pack(in_data_.bytes(), packed.bytes());
    if (!packed.holds(this->seed_of(this->peer()))) return false;
    if (by_ == external && !is_external(this->in_.bytes(), packed.bytes())) return false;
    Buffer gaps(layout_.size_bytes());
    std::ranges::fill(gaps.bytes(), std::byte{7});
    layout_.unpack(gaps.bytes(), in_data_.bytes());
    return std::ranges::all_of(in_data_.bytes(), [](std::byte b) { return b == std::byte{7}; });
  }

 private:
  static constexpr std::string_view ways[] = {"type", "hand", "pack", "external32"};
  static constexpr std::size_t external = 3;

  template <class Pack, class Unpack>
  void packed_loop(std::uint64_t rounds, Pack pack, Unpack unpack) {
    this->loop(
        rounds,
        [&](T& t, int peer, ConstBytes) {
          pack(t, out_data_.bytes(), type_, this->out_.bytes());
          t.send(peer, this->out_.bytes());
        },
        [&](T& t, int peer, Bytes packed) {
          t.recv(peer, packed);
          unpack(t, packed, in_data_.bytes(), type_);
        });
  }

  /// Whether the bytes of a message are those of integers of 4 bytes, highest first.
  static bool is_external(ConstBytes message, ConstBytes integers) {
    constexpr bool is_little = std::endian::native == std::endian::little;
    for (std::size_t at = 0; at < message.size(); ++at)
      if (message[at] != integers[is_little ? at ^ 3 : at]) return false;
    return true;
  }

  static std::size_t block_of(const Case& point) {
    const int block = point.axes.number("block", 64);
    if (block < 8 || block > 65536 || (block & (block - 1)) != 0)
      throw InputError("axis block is a power of two from 8 to 65536 here");
    if (point.size_bytes % static_cast<std::size_t>(block) != 0)
      throw InputError("data in blocks is a multiple of them: give a multiple of the axis block");
    if (point.size_bytes > INT_MAX / 2) throw InputError("data with gaps is at most 1 GiB");
    return static_cast<std::size_t>(block);
  }

  Layout layout_;
  Buffer out_data_;
  Buffer in_data_;
  std::size_t by_;
  typename T::DataType type_;
};
NHALF_PATTERN(pingpong_layout, PingPongLayout);
}  // namespace nhalf

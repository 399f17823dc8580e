// The slots between two ranks, from the view of the requester and of the handler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/am/layout.hpp"

namespace nhalf::am {

/// The slots for requests of one rank in the memory of another. A line shows 2 n + 1 when it holds
/// request n, and 2 n + 2 when that was handled.
class Channel {
 public:
  Channel() = default;
  Channel(const Layout& layout, std::byte* command, int source)
      : slots_(command + layout.slots_at(static_cast<std::size_t>(source))),
        replies_(command + layout.replies_at(static_cast<std::size_t>(source))),
        count_(layout.slots),
        medium_bytes_(layout.medium_bytes) {}

  explicit operator bool() const { return slots_ != nullptr; }
  [[nodiscard]] std::size_t slots() const { return count_; }
  [[nodiscard]] std::size_t after(std::size_t slot) const {
    return slot + 1 == count_ ? 0 : slot + 1;
  }
  [[nodiscard]] Line& line(std::size_t slot) const { return *reinterpret_cast<Line*>(at(slot)); }
  [[nodiscard]] Bytes request(std::size_t slot) const {
    return {at(slot) + Layout::line_bytes, medium_bytes_};
  }
  [[nodiscard]] Bytes reply(std::size_t slot) const {
    return {replies_ + slot * medium_bytes_, medium_bytes_};
  }
  static std::uint64_t asked(std::uint64_t number) { return (2 * number + 1) % Line::sequences; }
  static std::uint64_t answered(std::uint64_t number) { return (2 * number + 2) % Line::sequences; }

 private:
  [[nodiscard]] std::byte* at(std::size_t slot) const {
    return slots_ + slot * (Layout::line_bytes + medium_bytes_);
  }

  std::byte* slots_ = nullptr;
  std::byte* replies_ = nullptr;
  std::size_t count_ = 1;
  std::size_t medium_bytes_ = 0;
};

/// Requests of this rank to one other.
///
/// A slot is used again when its request was handled before the next one leaves, else it is the
/// turn of the slot behind it: the line of a slot that is used again is in both caches already,
/// which makes a round trip almost as fast as that of a flag. So those that are not known to be
/// handled lie one behind the other and end at `slot`.
struct Outgoing {
  Channel channel;
  std::atomic<std::uint64_t>* came = nullptr;
  std::uint64_t sent = 0;
  std::uint64_t settled = 0;
  std::size_t slot = 0;

  [[nodiscard]] bool is_settled() const { return sent == settled; }
  [[nodiscard]] bool has_room() const { return sent - settled < channel.slots(); }
  void choose_slot() {
    if (!is_settled()) slot = channel.after(slot);
  }
  /// Position of the first request that may still be unhandled.
  [[nodiscard]] std::size_t first_slot() const {
    const auto behind = static_cast<std::size_t>(sent - settled - 1);
    return slot >= behind ? slot - behind : slot + channel.slots() - behind;
  }
};

/// Requests of another rank to this one: the next is in the last slot or in the one behind it.
struct Incoming {
  Channel channel;
  std::uint64_t served = 0;
  std::size_t slot = 0;

  /// Whether the next request is there; then it is in `slot`.
  bool find() {
    const auto sequence = Channel::asked(served);
    if (channel.line(slot).sequence() == sequence) return true;
    const auto behind = channel.after(slot);
    if (channel.line(behind).sequence() != sequence) return false;
    slot = behind;
    return true;
  }
};

}  // namespace nhalf::am

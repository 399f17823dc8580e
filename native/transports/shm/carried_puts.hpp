// Signals of puts, and short puts whole, in one line of a cache that two ranks use in turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "contract/transport.hpp"
#include "transports/bases/copy_few.hpp"

namespace nhalf {

/// Lies in memory of one of the two ranks; zeros are an empty one. The head is written last. Lines
/// that processors fetch in pairs are kept apart.
struct alignas(256) CarriedLine {
  static constexpr std::size_t room_bytes = 56;

  std::atomic<std::uint64_t> head;
  std::byte data[room_bytes];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share no locks");

/// One rank's end of the line that it shares with another.
///
/// A line that both write in turn moves once per message; memory of the receiver that it looks at
/// moves twice, since the writer has to take it away first. With a second line to move, a message
/// takes twice as long, so what does not fit is put where it belongs, and only its signal is here.
class CarriedPuts {
 public:
  /// `begins`: whether this rank may send first; one of the two does.
  CarriedPuts(CarriedLine& line, bool begins)
      : line_(&line), mine_(begins ? from_beginner : from_other), has_turn_(begins) {}

  /// Whether `carry` may be called: the other rank has answered what this one sent last.
  [[nodiscard]] bool has_turn() const { return has_turn_; }
  /// Whether a put fits the line.
  [[nodiscard]] static bool fits(ConstBytes data, std::size_t offset) {
    return data.size() <= CarriedLine::room_bytes && offset >> offset_bits == 0;
  }

  /// Sends a put that fits, or none, with a signal.
  void carry(ConstBytes data, std::size_t offset, int slot) {
    copy_few(line_->data, data.data(), data.size());
    const auto head = mine_ | static_cast<std::uint64_t>(slot) << slot_at |
                      data.size() << bytes_at | offset << offset_at;
    line_->head.store(head, std::memory_order_release);
    has_turn_ = false;
  }

  /// Puts down in `memory` what the other rank has sent, where there is anything: its signal.
  std::optional<int> take(Bytes memory) {
    if (has_turn_) return std::nullopt;
    const auto head = line_->head.load(std::memory_order_acquire);
    if ((head & kinds) != (kinds ^ mine_)) return std::nullopt;
    const auto bytes = head >> bytes_at & 0xff;
    const auto offset = head >> offset_at;
    const auto slot = static_cast<int>(head >> slot_at & 0xff);
    // Another process wrote it.
    if (bytes > CarriedLine::room_bytes || slot >= OneSidedLimits::slots ||
        offset > memory.size() || bytes > memory.size() - offset)
      throw std::runtime_error("what came through shared memory is no put");
    copy_few(memory.data() + offset, line_->data, bytes);
    has_turn_ = true;
    return slot;
  }

 private:
  static constexpr std::uint64_t from_beginner = 1, from_other = 2, kinds = 3;
  static constexpr int slot_at = 8, bytes_at = 16, offset_at = 24, offset_bits = 40;

  CarriedLine* line_;
  std::uint64_t mine_;
  bool has_turn_;
};

}  // namespace nhalf

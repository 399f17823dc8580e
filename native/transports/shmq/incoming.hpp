// SPDX-License-Identifier: Apache-2.0
// The receiver's end of one direction between two ranks. It checks all that the sender wrote before
// it uses it: nothing outside of the buffers and of the receive is touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "contract/transport.hpp"
#include "transports/bases/copy_few.hpp"
#include "transports/shmq/layout.hpp"
#include "transports/shmq/operation.hpp"
#include "transports/shmq/postbox.hpp"

namespace nhalf::shmq {

/// The result of a poll for a message of one box.
enum class Look : std::uint8_t { nothing, taken, other };

/// Takes messages box by box and never waits. `Fetch` copies from the sender's memory: called with
/// where to, its address there, and how many bytes.
template <class Fetch>
class Incoming {
 public:
  Incoming(const Lane& lane, const Settings& settings, Fetch fetch)
      : lane_(lane), settings_(settings), fetch_(fetch) {}

  /// Whether a box is there that nobody has taken.
  [[nodiscard]] bool holds_message() const { return found().box != nullptr; }

  /// Takes what is there; true when that is all of the message. Throws BadMessage.
  bool go_on(Operation& received) {
    if (received.state == Operation::State::awaits_peer) return is_copied(received);
    while (received.state != Operation::State::done) {
      const auto what = found();
      if (what.box == nullptr) return false;
      const bool first = received.state == Operation::State::begins;
      received.state = Operation::State::goes_on;
      if (first)
        begin(received, what);
      else
        add(received, what);
      took(what);
      if (received.state == Operation::State::awaits_peer) return is_copied(received);
      if (received.done_bytes == received.announced_bytes) received.state = Operation::State::done;
    }
    return true;
  }

  /// Takes a message that fits one box, where it is there.
  Look take_whole(Bytes data) {
    const auto what = found();
    if (what.box == nullptr) return Look::nothing;
    if (what.head.kind != Kind::whole) return Look::other;
    check(what.head.count <= Postbox::room_bytes);
    copy_few(data.data(), what.box->data, std::min<std::size_t>(what.head.count, data.size()));
    took(what);
    return Look::taken;
  }

  /// Whether the last box that was taken was the one that both ranks use in turn; asked once.
  bool has_turn() { return std::exchange(has_turn_, false); }

 private:
  struct Found {
    const Postbox* box = nullptr;
    Head head{};
  };

  [[nodiscard]] Found found() const {
    const auto number = static_cast<std::uint32_t>(next_);
    const auto& box = lane_.box(next_);
    const auto word = box.head.load(std::memory_order_acquire);
    if (static_cast<std::uint32_t>(word) == number) return {&box, Head::of(word)};
    if (lane_.turn == nullptr) return {};
    const auto head = Head::of(lane_.turn->head.load(std::memory_order_acquire));
    if (head.number == number && head.back == lane_.back) return {lane_.turn, head};
    return {};
  }

  static void check(bool holds) {
    if (!holds) throw BadMessage("what came through shared memory is no message");
  }

  /// Puts down what belongs to the receive; what is beyond its size is dropped.
  static void keep(Operation& received, const std::byte* data, std::size_t bytes) {
    if (received.done_bytes < received.size_bytes && bytes > 0)
      std::memcpy(received.data + received.done_bytes, data,
                  std::min(bytes, received.size_bytes - received.done_bytes));
    received.done_bytes += bytes;
  }

  static Announced announced(const Postbox& box) {
    Announced what;
    std::memcpy(&what, box.data, sizeof what);
    return what;
  }

  void begin(Operation& received, const Found& what) {
    const auto& box = *what.box;
    if (what.head.kind == Kind::whole) {
      check(what.head.count <= Postbox::room_bytes);
      received.announced_bytes = what.head.count;
      keep(received, box.data, what.head.count);
      return;
    }
    const auto said = announced(box);
    check(said.size_bytes > 0 && said.size_bytes <= largest_bytes);
    received.announced_bytes = said.size_bytes;
    if (what.head.kind == Kind::parts) {
      check(said.size_bytes > first_part_bytes &&
            said.size_bytes <= std::max(settings_.short_bytes, Postbox::room_bytes));
      keep(received, box.data + sizeof said.size_bytes, first_part_bytes);
    } else if (what.head.kind == Kind::buffered) {
      keep_buffer(received, said);
    } else {
      check(what.head.kind == Kind::pull && settings_.pulls);
      pull(received, said);
    }
  }

  void add(Operation& received, const Found& what) {
    if (what.head.kind == Kind::buffer) return keep_buffer(received, announced(*what.box));
    check(what.head.kind == Kind::more && what.head.count <= Postbox::room_bytes &&
          what.head.count > 0 && what.head.count <= received.announced_bytes - received.done_bytes);
    keep(received, what.box->data, what.head.count);
  }

  void keep_buffer(Operation& received, const Announced& said) {
    check(said.size_bytes == received.announced_bytes && said.place == buffer_);
    const auto bytes =
        std::min(lane_.layout.buffer_bytes, received.announced_bytes - received.done_bytes);
    keep(received, lane_.buffer(buffer_), bytes);
    ++buffer_;
    if (buffer_ % std::max<std::uint64_t>(lane_.layout.buffers / 4, 1) == 0)
      lane_.taken_buffers().store(buffer_, std::memory_order_release);
  }

  /// Copies all of a message, or what the sender leaves of a long one.
  void pull(Operation& received, const Announced& said) {
    const auto bytes = std::min<std::size_t>(said.size_bytes, received.size_bytes);
    const auto fetch = [&](std::uint64_t offset, std::uint64_t some) {
      fetch_(received.data + offset, said.place + offset, some);
    };
    received.announced_bytes = received.done_bytes = bytes;
    if (bytes < 2 * Meeting::chunk_bytes) {
      if (bytes > 0) fetch(0, bytes);
      lane_.pulled().store(++pulled_, std::memory_order_release);
      return;
    }
    auto& meeting = lane_.meeting();
    ++pulled_;
    meeting.copied.store(0, std::memory_order_relaxed);
    meeting.size_bytes.store(bytes, std::memory_order_relaxed);
    meeting.address.store(reinterpret_cast<std::uint64_t>(received.data),
                          std::memory_order_relaxed);
    meeting.claimed.store(pulled_ << 32, std::memory_order_release);
    meeting.number.store(pulled_, std::memory_order_release);
    copy_chunks(meeting, pulled_, bytes, fetch);
    received.state = Operation::State::awaits_peer;
  }

  /// Whether the sender has copied the chunks that it had claimed, too.
  bool is_copied(Operation& received) {
    auto& meeting = lane_.meeting();
    const auto chunks = chunks_of(received.done_bytes);
    if (meeting.copied.load(std::memory_order_acquire) < chunks) return false;
    lane_.pulled().store(pulled_, std::memory_order_release);
    received.state = Operation::State::done;
    return true;
  }

  void took(const Found& what) {
    has_turn_ = what.box == lane_.turn;
    if (what.head.answer || next_ % (lane_.layout.postboxes / 4) == 0)
      lane_.taken_boxes().store(next_, std::memory_order_release);
    ++next_;
  }

  static constexpr std::uint64_t largest_bytes = std::uint64_t{1} << 47;

  Lane lane_;
  Settings settings_;
  Fetch fetch_;
  bool has_turn_ = false;
  std::uint64_t next_ = 1, buffer_ = 0, pulled_ = 0;
};

}  // namespace nhalf::shmq

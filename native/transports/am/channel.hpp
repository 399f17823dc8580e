// The slots between two ranks, from the view of the requester and of the handler, and the payloads
// that go to the memory of another rank.
#pragma once

#include "contract/buffer.hpp"
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

// The two ways to move a payload: stores of the program, and the block copy of the C library.

/// Word by word. The compiler is kept from making a call of the block copy out of the loop.
inline void copy_by_stores(ConstBytes from, std::byte* to) {
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  std::size_t at = 0;
  for (; at + word_bytes <= from.size(); at += word_bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + at, word_bytes);
    std::memcpy(to + at, &word, word_bytes);
    asm volatile("" : : "r"(to) : "memory");
  }
  if (at < from.size()) std::memcpy(to + at, from.data() + at, from.size() - at);
}

inline void copy_in_bulk(ConstBytes from, std::byte* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

/// Chooses between stores and bulk copies, and connects what a bulk copy writes to.
class Payloads {
 public:
  Payloads(Peers& peers, std::size_t stores_bytes)
      : peers_(peers), stores_bytes_(stores_bytes), behind_header_(slot_bytes()) {}

  /// Into memory that is mapped already.
  void copy(ConstBytes payload, std::byte* to) const {
    if (payload.size() <= stores_bytes_) {
      copy_by_stores(payload, to);
    } else {
      copy_in_bulk(payload, to);
    }
  }

  /// Into the payload segment of another rank, bytes from its begin.
  void put(int peer, std::size_t at, ConstBytes payload, active::Copying copying) {
    using active::Copying;
    switch (copying) {
      case Copying::threshold:
        return copy(payload, peers_.payload_of(peer) + at);
      case Copying::stores:
        return copy_by_stores(payload, peers_.payload_of(peer) + at);
      case Copying::bulk:
        return copy_in_bulk(payload, peers_.payload_of(peer) + at);
      case Copying::bulk_each:
        return connected(peer, at, payload, false);
      case Copying::bulk_hybrid:
        return connected(peer, at, staged(payload), true);
    }
  }

  /// Writes the payload of a reply, whose line is not adjacent to its payload.
  void move_medium(active::Medium medium, ConstBytes payload, Bytes room) {
    copy(medium == active::Medium::one_transfer ? staged(payload) : payload, room.data());
  }

  /// Copies the payload behind a header of this rank's own and moves both at once. The first word
  /// of the line is left to be written when the rest is there.
  void by_one_transfer(Line& line, active::Words words, ConstBytes payload) {
    constexpr std::size_t first_bytes = sizeof(active::Word);
    const auto all = Bytes(behind_header_).first(Layout::line_bytes + payload.size());
    if (!words.empty()) std::memcpy(all.data() + first_bytes, words.data(), words.size_bytes());
    copy_in_bulk(payload, all.data() + Layout::line_bytes);
    copy(all.subspan(first_bytes), reinterpret_cast<std::byte*>(&line) + first_bytes);
  }

 private:
  [[nodiscard]] std::size_t slot_bytes() const { return peers_.layout().slot_bytes(); }

  void connected(int peer, std::size_t at, ConstBytes payload, bool opened) {
    const auto segment = peers_.connect_payload(peer, opened);
    if (!segment) throw std::bad_alloc();
    copy_in_bulk(payload, segment.data() + at);
  }
  /// The payload in a buffer that was set up once.
  ConstBytes staged(ConstBytes payload) {
    if (payload.size() > staging_.bytes().size()) staging_ = Buffer(payload.size());
    const auto copy = staging_.bytes().first(payload.size());
    copy_in_bulk(payload, copy.data());
    return copy;
  }

  Peers& peers_;
  std::size_t stores_bytes_;
  std::vector<std::byte> behind_header_;
  Buffer staging_{0};
};
}  // namespace nhalf::am

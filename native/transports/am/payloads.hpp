// Writes payloads to the memory of another rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "contract/active_messages.hpp"
#include "contract/buffer.hpp"
#include "contract/transport.hpp"
#include "transports/am/line.hpp"
#include "transports/am/peers.hpp"

namespace nhalf::am {

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

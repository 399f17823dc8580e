// A cache line with the header and the words of a message and the flag that it has arrived.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transports/am/header.hpp"

namespace nhalf::am {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "other processes do not see the lock of an atomic");

/// A slot's line. The request is written by one rank; the reply, or the word that there is none,
/// replaces it: so a reply always has room, and the rank that waits for it has the line already.
///
/// The head is written last: its sequence number says that the line is complete. It has 48 bits, so
/// that what lies in a slot from long ago is never taken for the next message.
class alignas(64) Line {
 public:
  static constexpr std::uint64_t sequences = std::uint64_t{1} << 48;

  /// The sequence number that the line shows; acquires what was written before it.
  [[nodiscard]] std::uint64_t sequence() const {
    return head_.load(std::memory_order_acquire) >> 16;
  }

  /// Reads the line, once: others can write to it. After its sequence number was seen.
  [[nodiscard]] Header read() const {
    Header header;
    const auto head = head_.load(std::memory_order_relaxed);
    header.kind = static_cast<std::uint8_t>(head & 15);
    header.count = static_cast<std::uint8_t>(head >> 4 & 15);
    header.handler = static_cast<std::uint8_t>(head >> 8);
    header.words = words_;
    asm volatile("" ::: "memory");
    return header;
  }

  /// Writes a message with no payload and shows its sequence number.
  void write(std::uint64_t sequence, Kind kind, active::Number handler, active::Words words) {
    for (std::size_t i = 0; i < words.size(); ++i) words_[i] = words[i];
    show(sequence, kind, handler, words.size());
  }
  /// Writes the line of a message whose payload is already in place.
  void write(std::uint64_t sequence, Kind kind, active::Number handler, active::Words words,
             std::uint64_t offset, std::uint64_t length_bytes) {
    if (kind == Kind::long_message) words_[offset_at] = offset;
    words_[length_at] = length_bytes;
    write(sequence, kind, handler, words);
  }
  /// A medium message whose payload lies behind its words.
  void write_whole(std::uint64_t sequence, active::Number handler, active::Words words,
                   ConstBytes payload) {
    if (!payload.empty()) std::memcpy(words_.data() + words.size(), payload.data(), payload.size());
    write(sequence, Kind::medium_message, handler, words, 0, payload.size());
  }
  /// Any content at all, for tests.
  void scribble(std::uint64_t head, const HeaderWords& words) {
    words_ = words;
    head_.store(head, std::memory_order_release);
  }

 private:
  void show(std::uint64_t sequence, Kind kind, active::Number handler, std::size_t count) {
    const auto head = sequence << 16 | std::uint64_t{handler} << 8 | std::uint64_t{count} << 4 |
                      static_cast<std::uint64_t>(kind);
    head_.store(head, std::memory_order_release);
  }

  std::atomic<std::uint64_t> head_;
  HeaderWords words_;
};
static_assert(sizeof(Line) == 64);

}  // namespace nhalf::am

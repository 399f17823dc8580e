// A cache line that carries a message, or a part of one, from one process to another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace nhalf::shmq {

/// Thrown when another process wrote what is not part of a message.
struct BadMessage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The content of a postbox. A message is one `whole`; or `parts` and then `more`; or `buffered`
/// and then `buffer`, for each buffer beside the first one; or `pull`, which the receiver fetches.
enum class Kind : std::uint8_t { whole = 1, parts, more, buffered, buffer, pull };

/// The first word of a postbox, written last. `number` counts the boxes of one direction; `back`
/// tells the directions of a box that two ranks share; `answer`: the sender waits until it is read.
struct Head {
  std::uint32_t number = 0;
  Kind kind{};
  std::uint8_t count = 0;
  bool back = false;
  bool answer = false;

  [[nodiscard]] std::uint64_t word() const {
    return number | std::uint64_t{static_cast<std::uint8_t>(kind)} << 32 |
           std::uint64_t{count} << 40 | std::uint64_t{back} << 48 | std::uint64_t{answer} << 49;
  }
  static Head of(std::uint64_t word) {
    return {.number = static_cast<std::uint32_t>(word),
            .kind = Kind{static_cast<std::uint8_t>(word >> 32)},
            .count = static_cast<std::uint8_t>(word >> 40),
            .back = (word >> 48 & 1) != 0,
            .answer = (word >> 49 & 1) != 0};
  }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share no locks");

/// 64 bytes.
struct alignas(64) Postbox {
  static constexpr std::size_t room_bytes = 56;

  std::atomic<std::uint64_t> head;
  std::byte data[room_bytes];
};
static_assert(sizeof(Postbox) == 64);

/// Header of the first box of a longer message, and of a `buffer`.
struct Announced {
  /// Size of the message.
  std::uint64_t size_bytes = 0;
  /// Address of the message at the sender (`pull`), or the number of its first buffer.
  std::uint64_t place = 0;
};

/// Payload of `parts` beside the size of the message.
inline constexpr std::size_t first_part_bytes = Postbox::room_bytes - sizeof(std::uint64_t);

/// A counter on a line of its own, written by one side.
struct alignas(256) Counter {
  std::atomic<std::uint64_t> value;
};

/// A long message that both ranks copy: the receiver says where it goes, then each of them claims
/// one chunk after the other and copies it. Written by the receiver, but for the chunks.
struct alignas(256) Meeting {
  static constexpr std::size_t chunk_bytes = std::size_t{128} << 10;

  /// Number of the message, counted like `Counter` of pulled messages.
  std::atomic<std::uint64_t> number;
  std::atomic<std::uint64_t> address, size_bytes;
  alignas(64) std::atomic<std::uint64_t> claimed;
  alignas(64) std::atomic<std::uint64_t> copied;
};

/// The chunks of a message.
inline std::uint64_t chunks_of(std::uint64_t size_bytes) {
  return (size_bytes + Meeting::chunk_bytes - 1) / Meeting::chunk_bytes;
}

/// Copies chunk after chunk of message `number`, as long as there are some that nobody has claimed,
/// by `copy(offset, bytes)`. A claim names its message, for the receiver may be at the next one.
template <class Copy>
void copy_chunks(Meeting& meeting, std::uint64_t number, std::uint64_t size_bytes, Copy copy) {
  const auto chunks = chunks_of(size_bytes);
  auto claimed = meeting.claimed.load(std::memory_order_acquire);
  while (claimed >> 32 == (number & 0xffffffff) && (claimed & 0xffffffff) < chunks) {
    if (!meeting.claimed.compare_exchange_weak(claimed, claimed + 1, std::memory_order_acq_rel))
      continue;
    const auto offset = (claimed & 0xffffffff) * Meeting::chunk_bytes;
    copy(offset, std::min<std::uint64_t>(Meeting::chunk_bytes, size_bytes - offset));
    meeting.copied.fetch_add(1, std::memory_order_acq_rel);
    claimed = meeting.claimed.load(std::memory_order_acquire);
  }
}

}  // namespace nhalf::shmq

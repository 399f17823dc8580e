// A message on its way, in the region that all ranks share, and what has been completed for a
// library, or will be: entries in the order of their times.
#pragma once

#include <sys/uio.h>
#include <deque>

#include "fabric/region.hpp"
#include "network/message.hpp"

namespace nhalf::fabric {
/// What a message says beside its bytes.
struct Envelope {
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  bool is_tagged = false;
  bool has_data = false;
};

/// When a message has left a rank that waits for it.
struct Departure {
  Picoseconds at;
};

struct Message : network::Message {
  /// What taking it costs its receiver.
  Picoseconds cost = 0;
  Envelope envelope;
  /// A departure that its sender waits for; 0 if none.
  Offset departure = 0;
  std::uint32_t endpoint = 0;
  bool is_claimed = false;
  /// Whether it reaches into memory: it is not received.
  bool is_access = false;
  /// Bytes before its own ones that are no part of what wires carry.
  std::uint32_t head_bytes = 0;

  [[nodiscard]] std::byte* body() { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] std::size_t room() const { return sizeof(Message) + head_bytes + size_bytes; }
};

inline std::size_t bytes_in(std::span<const iovec> parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.iov_len;
  return bytes;
}

inline void gather(std::span<const iovec> parts, std::byte* to) {
  for (const auto& part : parts) {
    if (part.iov_len > 0) std::memcpy(to, part.iov_base, part.iov_len);
    to += part.iov_len;
  }
}

/// Writes bytes into parts, beginning `skipped` bytes after their start.
inline void scatter(std::span<const iovec> parts, std::size_t skipped, const std::byte* from,
                    std::size_t bytes) {
  for (const auto& part : parts) {
    const auto jumped = std::min(skipped, part.iov_len);
    skipped -= jumped;
    const auto copied = std::min(bytes, part.iov_len - jumped);
    if (copied > 0) std::memcpy(static_cast<std::byte*>(part.iov_base) + jumped, from, copied);
    from += copied;
    bytes -= copied;
  }
}

enum class Failure : unsigned char { none, truncated, cancelled, no_message, no_memory };

struct Completion {
  Completion(Picoseconds time, void* of_call) : at(time), context(of_call) {}

  Picoseconds at;
  /// What taking it costs the rank's processor.
  Picoseconds cost = 0;
  void* context;
  void* buffer = nullptr;
  std::size_t size_bytes = 0;
  /// Bytes that did not fit.
  std::size_t lost_bytes = 0;
  Envelope envelope;
  Address source;
  bool is_received = false;
  bool is_access = false;
  /// Whether a buffer of many messages goes back to the library.
  bool is_released = false;
  Failure failure = Failure::none;
};

class Completions {
 public:
  void add(const Completion& completion) {
    auto place = entries_.end();
    while (place != entries_.begin() && (place - 1)->at > completion.at) --place;
    entries_.insert(place, completion);
  }
  [[nodiscard]] Picoseconds due() const { return entries_.empty() ? never : entries_.front().at; }
  [[nodiscard]] const Completion& first() const { return entries_.front(); }
  [[nodiscard]] bool has_failed_first() const {
    return !entries_.empty() && entries_.front().failure != Failure::none;
  }
  Completion take() {
    const Completion completion = entries_.front();
    entries_.pop_front();
    return completion;
  }

 private:
  std::deque<Completion> entries_;
};
}  // namespace nhalf::fabric

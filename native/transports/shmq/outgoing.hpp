// The sender's end of one direction between two ranks; memory of another process is copied by the
// kernel: one copy instead of two.
#pragma once

#include <sys/prctl.h>
#include <sys/uio.h>

#include "transports/bases/copies.hpp"
#include "transports/shmq/layout.hpp"

namespace nhalf::shmq {
/// Copies from and to the memory of one process, where the kernel lets it.
class SingleCopy {
 public:
  SingleCopy() = default;
  explicit SingleCopy(pid_t process) : process_(process) {}

  /// Lets the processes that have this one's parent, the launcher, read this one's memory, where
  /// Linux would let none (the security module Yama).
  static void permit() {
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
#endif
  }

  /// Throws BadMessage where it is not there to be read.
  void operator()(std::byte* to, std::uint64_t address, std::size_t bytes) const {
    if (!reads(to, address, bytes))
      throw BadMessage("the memory that a message was announced in cannot be read");
  }

  [[nodiscard]] bool reads(std::byte* to, std::uint64_t address, std::size_t bytes) const {
    return moves(process_vm_readv, to, address, bytes);
  }
  [[nodiscard]] bool writes(std::byte* from, std::uint64_t address, std::size_t bytes) const {
    return moves(process_vm_writev, from, address, bytes);
  }

 private:
  template <class Move>
  bool moves(Move move, std::byte* local, std::uint64_t place, std::size_t bytes) const {
    while (bytes > 0) {
      const iovec own{local, bytes};
      const iovec remote{reinterpret_cast<void*>(place), bytes};
      const auto moved = move(process_, &own, 1, &remote, 1, 0);
      if (moved <= 0) return false;
      local += moved;
      place += static_cast<std::uint64_t>(moved);
      bytes -= static_cast<std::size_t>(moved);
    }
    return true;
  }

  pid_t process_ = 0;
};

/// Sends messages box by box without waiting; what does not fit continues later.
class Outgoing {
 public:
  Outgoing(const Lane& lane, const Settings& settings, SingleCopy copy)
      : lane_(lane),
        settings_(settings),
        copy_(copy),
        has_turn_(lane.turn != nullptr && !lane.back) {}

  /// The box that both ranks share is this rank's again.
  void take_turn() { has_turn_ = true; }

  /// Sends a message that fits one box; false if no box is free.
  bool send_whole(ConstBytes data, bool answered = false) {
    auto* box = single();
    if (box == nullptr) return false;
    copy_few(box->data, data.data(), data.size());
    publish(*box, Kind::whole, data.size(), answered);
    return true;
  }

  /// Hands over as much as there is room for; true when that is all of the message.
  bool go_on(Operation& sent) {
    if (sent.state == Operation::State::begins && !begin(sent)) return false;
    while (sent.state == Operation::State::goes_on) {
      const bool more = travels_short(sent) ? send_part(sent) : send_buffer(sent);
      if (!more) return false;
      if (sent.done_bytes == sent.size_bytes) finish(sent);
    }
    return true;
  }

  /// Copies chunks of a long message, where its receiver has begun to fetch it.
  void help(const Operation& sent) {
    if (sent.state != Operation::State::awaits_pull) return;
    auto& meeting = lane_.meeting();
    if (meeting.number.load(std::memory_order_acquire) != sent.awaited) return;
    const auto address = meeting.address.load(std::memory_order_relaxed);
    const auto size_bytes = std::min<std::uint64_t>(
        meeting.size_bytes.load(std::memory_order_relaxed), sent.size_bytes);
    copy_chunks(meeting, sent.awaited, size_bytes, [&](std::uint64_t offset, std::uint64_t bytes) {
      if (!copy_.writes(sent.data + offset, address + offset, bytes))
        throw BadMessage("a receiver's memory cannot be written");
    });
  }

  /// Whether a send that was handed over may return.
  [[nodiscard]] bool is_done(const Operation& sent) const {
    using State = Operation::State;
    if (sent.state == State::awaits_pull)
      return lane_.pulled().load(std::memory_order_acquire) >= sent.awaited;
    if (sent.state == State::awaits_box)
      return lane_.taken_boxes().load(std::memory_order_acquire) >= sent.awaited;
    return sent.state == State::done;
  }

 private:
  [[nodiscard]] bool travels_short(const Operation& sent) const {
    return sent.size_bytes <= std::max(settings_.short_bytes, Postbox::room_bytes);
  }

  /// The next box where it is free, else null.
  Postbox* next_box() {
    if (next_ > taken_boxes_ + lane_.layout.postboxes) {
      taken_boxes_ = lane_.taken_boxes().load(std::memory_order_acquire);
      if (next_ > taken_boxes_ + lane_.layout.postboxes) return nullptr;
    }
    return &lane_.box(next_);
  }

  /// Returns the box that both ranks share for a message of one box, if it is this rank's turn.
  Postbox* single() {
    if (!has_turn_) return next_box();
    has_turn_ = false;
    return lane_.turn;
  }

  void publish(Postbox& box, Kind kind, std::size_t count, bool answered = false) {
    const Head head{.number = static_cast<std::uint32_t>(next_++),
                    .kind = kind,
                    .count = static_cast<std::uint8_t>(count),
                    .back = lane_.back,
                    .answer = answered};
    box.head.store(head.word(), std::memory_order_release);
  }

  /// Sends the first box of a message; false if no box is free.
  bool begin(Operation& sent) {
    if (sent.size_bytes <= Postbox::room_bytes) {
      if (!send_whole({sent.data, sent.size_bytes}, sent.answered)) return false;
      finish(sent);
      return true;
    }
    if (!travels_short(sent) && settings_.pulls && sent.size_bytes >= settings_.rendezvous_bytes)
      return offer(sent);
    if (travels_short(sent)) return begin_parts(sent);
    sent.state = Operation::State::goes_on;
    return true;
  }

  bool offer(Operation& sent) {
    auto* box = single();
    if (box == nullptr) return false;
    const Announced announced{sent.size_bytes, reinterpret_cast<std::uint64_t>(sent.data)};
    std::memcpy(box->data, &announced, sizeof announced);
    publish(*box, Kind::pull, sizeof announced);
    sent.state = Operation::State::awaits_pull;
    sent.awaited = ++offered_;
    return true;
  }

  bool begin_parts(Operation& sent) {
    auto* box = next_box();
    if (box == nullptr) return false;
    const std::uint64_t size_bytes = sent.size_bytes;
    std::memcpy(box->data, &size_bytes, sizeof size_bytes);
    std::memcpy(box->data + sizeof size_bytes, sent.data, first_part_bytes);
    publish(*box, Kind::parts, Postbox::room_bytes);
    sent.done_bytes = first_part_bytes;
    sent.state = Operation::State::goes_on;
    return true;
  }

  bool send_part(Operation& sent) {
    auto* box = next_box();
    if (box == nullptr) return false;
    const auto bytes = std::min(Postbox::room_bytes, sent.size_bytes - sent.done_bytes);
    std::memcpy(box->data, sent.data + sent.done_bytes, bytes);
    sent.done_bytes += bytes;
    publish(*box, Kind::more, bytes, sent.answered && sent.done_bytes == sent.size_bytes);
    return true;
  }

  bool send_buffer(Operation& sent) {
    if (buffer_ >= taken_buffers_ + lane_.layout.buffers) {
      taken_buffers_ = lane_.taken_buffers().load(std::memory_order_acquire);
      if (buffer_ >= taken_buffers_ + lane_.layout.buffers) return false;
    }
    auto* box = next_box();
    if (box == nullptr) return false;
    const auto bytes = std::min(lane_.layout.buffer_bytes, sent.size_bytes - sent.done_bytes);
    std::memcpy(lane_.buffer(buffer_), sent.data + sent.done_bytes, bytes);
    const auto kind = sent.done_bytes == 0 ? Kind::buffered : Kind::buffer;
    const Announced announced{sent.size_bytes, buffer_++};
    std::memcpy(box->data, &announced, sizeof announced);
    sent.done_bytes += bytes;
    publish(*box, kind, sizeof announced, sent.answered && sent.done_bytes == sent.size_bytes);
    return true;
  }

  void finish(Operation& sent) {
    sent.state = sent.answered ? Operation::State::awaits_box : Operation::State::done;
    sent.awaited = next_ - 1;
  }

  Lane lane_;
  Settings settings_;
  SingleCopy copy_;
  bool has_turn_;
  /// Boxes are counted from 1, so that memory that nobody wrote holds none.
  std::uint64_t next_ = 1, buffer_ = 0, offered_ = 0;
  /// State of the receiver.
  std::uint64_t taken_boxes_ = 0, taken_buffers_ = 0;
};
}  // namespace nhalf::shmq

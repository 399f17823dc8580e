// The receiver's end of one direction between two ranks. It checks all that the sender wrote before
// it uses it: nothing outside of the buffers and of the receive is touched.
#pragma once

#include "transports/bases/copies.hpp"
#include "transports/shmq/layout.hpp"

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
      const auto piece = found();
      if (piece.box == nullptr) return false;
      const bool first = received.state == Operation::State::begins;
      received.state = Operation::State::goes_on;
      if (first)
        begin(received, piece);
      else
        add(received, piece);
      took(piece);
      if (received.state == Operation::State::awaits_peer) return is_copied(received);
      if (received.done_bytes == received.announced_bytes) received.state = Operation::State::done;
    }
    return true;
  }

  /// Takes a message that fits one box, where it is there.
  Look take_whole(Bytes data) {
    const auto piece = found();
    if (piece.box == nullptr) return Look::nothing;
    if (piece.head.kind != Kind::whole) return Look::other;
    check(piece.head.count <= Postbox::room_bytes);
    copy_few(data.data(), piece.box->data, std::min<std::size_t>(piece.head.count, data.size()));
    took(piece);
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
    Announced piece;
    std::memcpy(&piece, box.data, sizeof piece);
    return piece;
  }

  void begin(Operation& received, const Found& piece) {
    const auto& box = *piece.box;
    if (piece.head.kind == Kind::whole) {
      check(piece.head.count <= Postbox::room_bytes);
      received.announced_bytes = piece.head.count;
      keep(received, box.data, piece.head.count);
      return;
    }
    const auto announced_data = announced(box);
    check(announced_data.size_bytes > 0 && announced_data.size_bytes <= largest_bytes);
    received.announced_bytes = announced_data.size_bytes;
    if (piece.head.kind == Kind::parts) {
      check(announced_data.size_bytes > first_part_bytes &&
            announced_data.size_bytes <= std::max(settings_.short_bytes, Postbox::room_bytes));
      keep(received, box.data + sizeof announced_data.size_bytes, first_part_bytes);
    } else if (piece.head.kind == Kind::buffered) {
      keep_buffer(received, announced_data);
    } else {
      check(piece.head.kind == Kind::pull && settings_.pulls);
      pull(received, announced_data);
    }
  }

  void add(Operation& received, const Found& piece) {
    if (piece.head.kind == Kind::buffer) return keep_buffer(received, announced(*piece.box));
    check(piece.head.kind == Kind::more && piece.head.count <= Postbox::room_bytes &&
          piece.head.count > 0 &&
          piece.head.count <= received.announced_bytes - received.done_bytes);
    keep(received, piece.box->data, piece.head.count);
  }

  void keep_buffer(Operation& received, const Announced& announced_data) {
    check(announced_data.size_bytes == received.announced_bytes && announced_data.place == buffer_);
    const auto bytes =
        std::min(lane_.layout.buffer_bytes, received.announced_bytes - received.done_bytes);
    keep(received, lane_.buffer(buffer_), bytes);
    ++buffer_;
    if (buffer_ % std::max<std::uint64_t>(lane_.layout.buffers / 4, 1) == 0)
      lane_.taken_buffers().store(buffer_, std::memory_order_release);
  }

  /// Copies all of a message, or what the sender leaves of a long one.
  void pull(Operation& received, const Announced& announced_data) {
    const auto bytes = std::min<std::size_t>(announced_data.size_bytes, received.size_bytes);
    const auto fetch = [&](std::uint64_t offset, std::uint64_t some) {
      fetch_(received.data + offset, announced_data.place + offset, some);
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

  void took(const Found& piece) {
    has_turn_ = piece.box == lane_.turn;
    if (piece.head.answer || next_ % (lane_.layout.postboxes / 4) == 0)
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

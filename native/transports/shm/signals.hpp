// The signals between all ranks that share memory, alone or with a put; short puts go whole, in one
// line of a cache that two ranks use in turn.
#pragma once

#include <stdexcept>

#include "transports/bases/copies.hpp"

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

/// One rank's view of the signals of all. They lie at the beginning of each rank's memory: a
/// counter for each slot, and lines that it shares with ranks of higher numbers.
class Signals {
 public:
  /// Returns the memory that the signals of each rank take.
  static constexpr std::size_t room_bytes(int ranks) {
    return lines_at + sizeof(CarriedLine) * static_cast<std::size_t>(ranks);
  }

  /// `starts` is where the memory of each rank begins, zeros at first.
  Signals(std::vector<std::byte*> starts, int rank)
      : starts_(std::move(starts)), rank_(rank), announced_(starts_.size()) {
    for (int peer = 0; std::cmp_less(peer, starts_.size()); ++peer)
      lines_.emplace_back(line(peer), rank_ <= peer);
  }

  void raise(int peer, int slot) const {
    counter(peer, slot).fetch_add(1, std::memory_order_release);
  }
  /// Raises a signal with a put, or tells by false that the put is to be made, and then signalled
  /// by `raise_in_turn`.
  bool raise_with_put(int peer, ConstBytes data, std::size_t offset, int slot) {
    if (!has_turn(peer) || !CarriedPuts::fits(data, offset)) return false;
    carry(peer, data, offset, slot);
    return true;
  }
  /// Raises a signal in the line that both ranks write in turn.
  void raise_in_turn(int peer, int slot) {
    if (!has_turn(peer)) return raise(peer, slot);
    carry(peer, {}, 0, slot);
  }

  /// Whether a signal was there; then it is so no more. Puts that came with it go into `memory`.
  bool take(int slot, Bytes memory) {
    if (take_carried(slot, memory)) return true;
    const auto mine = counter(rank_, slot);
    if (mine.load(std::memory_order_acquire) == 0) return false;
    // Data carried before this signal was raised are older.
    if (!take_carried(slot, memory)) mine.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr int senders_max = 64;
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t senders_at = line_bytes * OneSidedLimits::slots;
  static constexpr std::size_t lines_at = senders_at + sizeof(CarriedLine);

  [[nodiscard]] bool has_turn(int peer) const {
    return rank_ < senders_max && peer != rank_ &&
           lines_[static_cast<std::size_t>(peer)].has_turn();
  }
  /// The receiver polls only lines that have been used.
  void carry(int peer, ConstBytes data, std::size_t offset, int slot) {
    const auto place = static_cast<std::size_t>(peer);
    lines_[place].carry(data, offset, slot);
    if (announced_[place] != 0) return;
    announced_[place] = 1;
    senders(peer).fetch_or(std::uint64_t{1} << rank_, std::memory_order_release);
  }
  /// Takes what others have sent in lines, up to the first with this signal.
  bool take_carried(int slot, Bytes memory) {
    for (auto remaining = senders(rank_).load(std::memory_order_relaxed); remaining != 0;
         remaining &= remaining - 1) {
      const auto sender = static_cast<std::size_t>(std::countr_zero(remaining));
      const auto came = lines_.at(sender).take(memory);
      if (came == slot) return true;
      if (came) raise(rank_, *came);
    }
    return false;
  }

  /// Each has a cache line of its own.
  [[nodiscard]] std::atomic_ref<std::uint64_t> counter(int rank, int slot) const {
    return word(rank, line_bytes * static_cast<std::size_t>(slot));
  }
  /// Ranks that have used a line shared with `rank`, as bits.
  [[nodiscard]] std::atomic_ref<std::uint64_t> senders(int rank) const {
    return word(rank, senders_at);
  }
  [[nodiscard]] std::atomic_ref<std::uint64_t> word(int rank, std::size_t at) const {
    return std::atomic_ref(
        *reinterpret_cast<std::uint64_t*>(starts_[static_cast<std::size_t>(rank)] + at));
  }
  /// It lies at the lower rank of two.
  [[nodiscard]] CarriedLine& line(int peer) const {
    const auto [lower, higher] = std::minmax(rank_, peer);
    auto* lines = starts_[static_cast<std::size_t>(lower)] + lines_at;
    return reinterpret_cast<CarriedLine*>(lines)[higher];
  }

  std::vector<std::byte*> starts_;
  int rank_;
  std::vector<CarriedPuts> lines_;
  /// By rank whether it looks for what this one carries.
  std::vector<std::uint8_t> announced_;
};
}  // namespace nhalf

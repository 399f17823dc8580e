// Layout of the two segments of a rank: cache lines with the header and the words of a message and
// the flag that it has arrived; and the imported segments of other ranks.
#pragma once

#include <atomic>
#include <new>
#include <stdexcept>

#include "contract/active_messages.hpp"
#include "host/segment.hpp"

namespace nhalf::am {
/// The kind of a message. `done` says that a request was handled without a reply.
enum class Kind : std::uint8_t { done, short_message, medium_message, long_message };
inline constexpr std::uint8_t kinds = 4;

/// The words of a line: arguments from the front, what the kind of message needs from the back.
using HeaderWords = std::array<active::Word, active::words_short_max>;
inline constexpr std::size_t length_at = active::words_short_max - 1;
inline constexpr std::size_t offset_at = active::words_short_max - 2;

/// A header as it was read.
struct Header {
  std::uint8_t kind = 0;
  std::uint8_t count = 0;
  active::Number handler = 0;
  HeaderWords words{};

  [[nodiscard]] std::uint64_t length_bytes() const { return words[length_at]; }
  [[nodiscard]] std::uint64_t offset() const { return words[offset_at]; }
};

/// Returns how much payload of a medium message fits beside `words` arguments; a payload that fits
/// travels in the line.
constexpr std::size_t room_beside(std::size_t words) {
  return words > length_at ? 0 : (length_at - words) * sizeof(active::Word);
}

/// Limits of the payloads that may arrive here.
struct Limits {
  std::size_t medium_bytes = 0;
  std::size_t region_bytes = 0;
};

/// The most arguments beside what else the header of this kind has to say.
constexpr std::size_t words_of(Kind kind) {
  constexpr std::size_t most[kinds] = {0, length_at + 1, length_at, offset_at};
  return most[static_cast<std::size_t>(kind)];
}

/// Whether a range lies in a region.
constexpr bool lies_in(std::size_t region_bytes, std::uint64_t offset, std::uint64_t length_bytes) {
  return offset <= region_bytes && length_bytes <= region_bytes - offset;
}

/// Returns the error in a header, given whether its handler is in the table; empty if there is
/// none.
constexpr std::string_view fault(const Header& header, const Limits& limits, bool has_handler) {
  if (header.kind >= kinds) return "a kind of message that does not exist";
  const auto kind = static_cast<Kind>(header.kind);
  if (header.count > words_of(kind)) return "more words than fit";
  if (kind == Kind::done) return "";
  if (!has_handler) return "a handler that does not exist";
  if (kind == Kind::medium_message && header.length_bytes() > limits.medium_bytes)
    return "a payload longer than its slot";
  if (kind == Kind::long_message &&
      !lies_in(limits.region_bytes, header.offset(), header.length_bytes()))
    return "a payload outside of the region";
  return "";
}

/// A header that cannot be right arrived: memory was overwritten, or the sender is another program.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

/// The command segment begins with the control region: the flag that something came, and for every
/// source a count of messages that were taken. Then, for every source, its slots, each a line with
/// room for the payload of a request behind it; then room for the payloads of replies. The payload
/// segment is the region for long messages, behind the buffers through which the long ones of
/// `send` pass.
struct Layout {
  std::size_t ranks = 2;
  std::size_t slots = 16;
  std::size_t medium_bytes = 4096;
  std::size_t chunks = 4;
  std::size_t chunk_bytes = 32768;
  std::size_t region_bytes = std::size_t{64} << 20;

  static constexpr std::size_t line_bytes = sizeof(Line);
  static constexpr std::size_t came_at = 0;

  [[nodiscard]] std::size_t slot_bytes() const { return line_bytes + medium_bytes; }
  [[nodiscard]] std::size_t taken_at(std::size_t source) const { return (1 + source) * line_bytes; }
  [[nodiscard]] std::size_t slots_at(std::size_t source) const {
    return (1 + ranks) * line_bytes + source * slots * slot_bytes();
  }
  [[nodiscard]] std::size_t replies_at(std::size_t source) const {
    return slots_at(ranks) + source * slots * medium_bytes;
  }
  [[nodiscard]] std::size_t command_bytes() const { return replies_at(ranks); }

  [[nodiscard]] std::size_t chunks_at(std::size_t source) const {
    return source * chunks * chunk_bytes;
  }
  [[nodiscard]] std::size_t region_at() const { return chunks_at(ranks); }
  [[nodiscard]] std::size_t payload_bytes() const { return region_at() + region_bytes; }
};

/// Addresses of the two segments of a rank.
struct Exported {
  Segment::Address command, payload;
};

/// The segments of one rank and those of other ranks. A segment of another rank is mapped at its
/// first use.
class Peers {
 public:
  /// Makes this rank's segments; throws std::bad_alloc where there is no memory for them. The pages
  /// of the payload region proper are set aside when it is used.
  Peers(const Layout& layout, int rank)
      : layout_(layout),
        rank_(rank),
        command_(Segment::create(layout.command_bytes())),
        payload_(Segment::create(layout.payload_bytes())),
        imported_(layout.ranks) {
    if (!command_.reserve(0, layout.command_bytes()) || !payload_.reserve(0, layout.region_at()))
      throw std::bad_alloc();
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] Exported exported() const { return {command_.address(), payload_.address()}; }
  /// Sets the addresses of all ranks' segments, by rank.
  void learn(std::vector<Exported> everyone) { everyone_ = std::move(everyone); }

  [[nodiscard]] std::byte* command() const { return command_.data(); }
  [[nodiscard]] std::byte* payload() const { return payload_.data(); }
  /// Sets pages of the payload region aside.
  [[nodiscard]] bool reserve(std::size_t size_bytes) const {
    return size_bytes == 0 || payload_.reserve(layout_.region_at(), size_bytes);
  }

  /// Another rank's segments, or this rank's own; throws std::runtime_error where they cannot be
  /// had.
  std::byte* command_of(int peer) {
    if (peer == rank_) return command();
    return mapped(of(peer).command, where(peer).command, layout_.command_bytes(), peer);
  }
  std::byte* payload_of(int peer) {
    if (peer == rank_) return payload();
    return mapped(of(peer).payload, where(peer).payload, layout_.payload_bytes(), peer);
  }
  /// Maps a segment anew for one transfer: `opened` where its file was opened before.
  Segment connect_payload(int peer, bool opened) {
    if (opened && peer != rank_) {
      payload_of(peer);
      return of(peer).payload.mapped_again();
    }
    return Segment::open(where(peer).payload, layout_.payload_bytes());
  }
  /// Undoes the import of a peer.
  void forget(int peer) { of(peer) = {}; }

 private:
  struct Imported {
    Segment command, payload;
  };

  Imported& of(int peer) { return imported_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] const Exported& where(int peer) const {
    return everyone_.at(static_cast<std::size_t>(peer));
  }
  static std::byte* mapped(Segment& segment, const Segment::Address& address,
                           std::size_t size_bytes, int peer) {
    if (!segment) segment = Segment::open(address, size_bytes);
    if (!segment)
      throw std::runtime_error("memory of rank " + std::to_string(peer) +
                               " cannot be mapped: active messages need all ranks on one host, of "
                               "one user");
    return segment.data();
  }

  Layout layout_;
  int rank_;
  Segment command_, payload_;
  std::vector<Exported> everyone_;
  std::vector<Imported> imported_;
};
}  // namespace nhalf::am

// Settings of messages by postboxes, and the layout of memory. A postbox is a cache line that
// carries a message, or a part of one, from one process to another.
#pragma once

#include <atomic>

#include "contract/buffer.hpp"
#include "contract/options.hpp"

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

/// Thresholds, numbers and ways of messages by postboxes.
struct Settings {
  static constexpr std::array<OptionInfo, 9> described{{
      {"short_bytes", "216", "B", "up to this size messages travel in postboxes alone"},
      {"rendezvous_bytes", "16384", "B", "from this size on the receiver fetches messages"},
      {"buffer_bytes", "4096", "B", "size of the buffers that carry messages between these sizes"},
      {"buffers", "64", "", "such buffers of each pair of ranks, each way"},
      {"postboxes", "128", "", "postboxes of each pair of ranks, each way; a power of two"},
      {"stripes", "1", "", "areas of memory that the buffers of a message alternate between"},
      {"polling", "directed", "", "directed: look where receives are posted; general: everywhere"},
      {"copies", "1", "", "copies of a message above rendezvous_bytes: 1, by the kernel, or 2"},
      {"turns", "1", "", "1: two ranks that answer each other use one postbox in turn; or 0"},
  }};

  std::size_t short_bytes = 216;
  std::size_t rendezvous_bytes = 16384;
  std::size_t buffer_bytes = 4096;
  std::size_t buffers = 64;
  std::size_t postboxes = 128;
  std::size_t stripes = 1;
  bool general = false;
  bool pulls = true;
  bool turns = true;

  Settings() = default;
  explicit Settings(const Options& options) {
    const auto read = [&](const char* name, std::size_t& value) {
      value = options.number(name, value);
    };
    read("short_bytes", short_bytes);
    read("rendezvous_bytes", rendezvous_bytes);
    read("buffer_bytes", buffer_bytes);
    read("buffers", buffers);
    read("postboxes", postboxes);
    read("stripes", stripes);
    general = word(options, "polling", {"directed", "general"});
    pulls = word(options, "copies", {"2", "1"}, 1);
    turns = word(options, "turns", {"0", "1"}, 1);
    check(postboxes >= 4 && postboxes <= most && std::has_single_bit(postboxes),
          "postboxes is a power of two from 4 to 65536");
    check(buffer_bytes >= 64 && buffer_bytes <= most * 64 && buffer_bytes % 64 == 0,
          "buffer_bytes is a multiple of 64 up to 4194304");
    check(stripes >= 1 && stripes <= 64 && buffers >= stripes && buffers <= most &&
              buffers % stripes == 0,
          "buffers is a multiple of stripes, which are 1 to 64");
  }

 private:
  static constexpr std::size_t most = 65536;

  static void check(bool holds, const char* message) {
    if (!holds) throw InputError(message);
  }
  static bool word(const Options& options, const std::string& name,
                   std::array<std::string_view, 2> words, std::size_t fallback = 0) {
    const auto text = options.text(name, std::string(words[fallback]));
    check(text == words[0] || text == words[1],
          ("option " + name + " has no value '" + text + "'").c_str());
    return text == words[1];
  }
};

/// The memory of one direction between two ranks, in which the receiver writes the counters and the
/// sender all else.
struct Layout {
  explicit Layout(const Settings& settings)
      : postboxes(settings.postboxes),
        buffers(settings.buffers),
        buffer_bytes(settings.buffer_bytes),
        stripes(settings.stripes),
        boxes_at(counters_bytes + sizeof(Meeting)),
        stripes_at(whole_pages(boxes_at + postboxes * sizeof(Postbox))),
        stripe_bytes(whole_pages(buffers / stripes * buffer_bytes)),
        size_bytes(stripes_at + stripes * stripe_bytes) {}

  /// Returns the offset of buffer `number`.
  [[nodiscard]] std::size_t buffer_at(std::uint64_t number) const {
    const auto place = number % buffers;
    return stripes_at + place % stripes * stripe_bytes + place / stripes * buffer_bytes;
  }

  static constexpr std::size_t counters_bytes = 3 * sizeof(Counter);
  std::size_t postboxes, buffers, buffer_bytes, stripes;
  std::size_t boxes_at, stripes_at, stripe_bytes, size_bytes;

 private:
  static std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }
};

/// One direction between two ranks, as both of them see it. `turn` is the box that they share, null
/// where they share none; `back` marks what is sent this way in it.
struct Lane {
  Lane(std::byte* memory, const Settings& settings, Postbox* shared, bool is_back)
      : layout(settings),
        base(memory),
        boxes(reinterpret_cast<Postbox*>(memory + layout.boxes_at)),
        turn(settings.turns ? shared : nullptr),
        back(is_back) {}

  /// Boxes, buffers and pulled messages that the receiver is done with.
  [[nodiscard]] std::atomic<std::uint64_t>& taken_boxes() const { return counter(0); }
  [[nodiscard]] std::atomic<std::uint64_t>& taken_buffers() const { return counter(1); }
  [[nodiscard]] std::atomic<std::uint64_t>& pulled() const { return counter(2); }

  [[nodiscard]] Meeting& meeting() const {
    return *reinterpret_cast<Meeting*>(base + Layout::counters_bytes);
  }

  [[nodiscard]] Postbox& box(std::uint64_t number) const {
    return boxes[number & (layout.postboxes - 1)];
  }
  [[nodiscard]] std::byte* buffer(std::uint64_t number) const {
    return base + layout.buffer_at(number);
  }

  Layout layout;
  std::byte* base;
  Postbox* boxes;
  Postbox* turn;
  bool back;

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& counter(std::size_t place) const {
    return reinterpret_cast<Counter*>(base)[place].value;
  }
};

/// The memory of one rank: first the boxes that it shares with ranks of higher numbers, then a lane
/// from each rank.
class Mailboxes {
 public:
  Mailboxes(const Settings& settings, int ranks)
      : settings_(settings),
        lane_bytes_(Layout(settings).size_bytes),
        ranks_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] std::size_t size_bytes() const { return lanes_at() + ranks_ * lane_bytes_; }

  /// Returns the direction from `from` to `to`; `memory` has the base address of each rank.
  [[nodiscard]] Lane lane(std::span<std::byte* const> memory, int from, int to) const {
    const auto lower = static_cast<std::size_t>(std::min(from, to));
    const auto higher = static_cast<std::size_t>(std::max(from, to));
    auto* turn = from == to ? nullptr : memory[lower] + higher * box_bytes;
    auto* lane = memory[static_cast<std::size_t>(to)] + lanes_at() +
                 static_cast<std::size_t>(from) * lane_bytes_;
    return {lane, settings_, reinterpret_cast<Postbox*>(turn), from > to};
  }

 private:
  /// Lines that processors fetch in pairs are kept apart.
  static constexpr std::size_t box_bytes = 256;

  [[nodiscard]] std::size_t lanes_at() const {
    return (ranks_ * box_bytes + page_bytes - 1) / page_bytes * page_bytes;
  }

  Settings settings_;
  std::size_t lane_bytes_, ranks_;
};

/// Goes on whenever there is room, or something has come.
struct Operation {
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;
  /// Sent or received so far.
  std::size_t done_bytes = 0;
  /// Size that the sender of a received message announced; bytes beyond `size_bytes` are dropped.
  std::size_t announced_bytes = 0;
  /// Count of boxes or pulled messages at which a submitted send completes.
  std::uint64_t awaited = 0;
  enum class State : std::uint8_t { begins, goes_on, awaits_pull, awaits_box, awaits_peer, done };
  State state = State::begins;
  /// A send that returns only when its receive has started.
  bool answered = false;
  bool sends = false;
  int peer = -1;
  Operation* next = nullptr;
};

/// First in, first out; owns nothing.
class Queue {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  Operation& front() { return *first_; }
  void push(Operation& operation) {
    operation.next = nullptr;
    if (empty())
      first_ = &operation;
    else
      last_->next = &operation;
    last_ = &operation;
  }
  void pop() { first_ = first_->next; }

 private:
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
};
}  // namespace nhalf::shmq

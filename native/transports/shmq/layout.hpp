// Settings of messages by postboxes, and the layout of memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "contract/transport.hpp"
#include "transports/shmq/postbox.hpp"

namespace nhalf::shmq {

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

}  // namespace nhalf::shmq

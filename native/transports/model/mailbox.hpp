// Messages in flight on the simulated machine; only pairs of ranks with messages take memory.
#pragma once

#include "contract/transport.hpp"

namespace nhalf {
/// Sent, and not yet received.
struct ModelMessage {
  double arrival_s = 0;
  std::vector<std::byte> data;
  /// The sender and the tag of a tagged message; these lie in one queue for all senders.
  int sender = 0;
  int tag = 0;
  /// Whether the sender waits until the message is received.
  bool synchronous = false;
};

/// By sender and receiver a queue of messages. What it holds grows with the messages that are under
/// way at once, and so does nothing else: queues are found in a table with open addresses, from
/// which those that run empty go again (D. Knuth, The Art of Computer Programming 3, 6.4, R).
class Mailbox {
 public:
  Mailbox() : queues_(queues_least) {}

  /// Puts a message behind those of the same pair; valid until the next one is put or taken.
  ModelMessage& put(int from, int to, double arrival_s, ConstBytes data) {
    const auto place = fresh();
    auto& entry = entries_[place];
    entry.next = nothing;
    entry.message.arrival_s = arrival_s;
    entry.message.synchronous = false;
    entry.message.data.assign(data.begin(), data.end());
    auto& queue = queues_[find_or_add(key_of(from, to))];
    if (queue.first == nothing)
      queue.first = place;
    else
      entries_[queue.last].next = place;
    queue.last = place;
    return entry.message;
  }

  /// The next message of a pair; null where there is none.
  [[nodiscard]] const ModelMessage* first(int from, int to) const {
    const auto& queue = queues_[find(key_of(from, to))];
    return queue.key == empty ? nullptr : &entries_[queue.first].message;
  }

  /// Hands the next message of a pair, which is there, to `use`, and forgets it.
  template <class Use>
  void take(int from, int to, Use use) {
    const auto place = find(key_of(from, to));
    auto& queue = queues_[place];
    const auto earliest = queue.first;
    queue.first = entries_[earliest].next;
    if (queue.first == nothing) remove(place);
    use(std::as_const(entries_[earliest].message));
    release(earliest);
  }

  /// Hands the first message of a pair for which `accepts` holds to `use`, with how many it passed,
  /// and forgets it. Whether there was one.
  template <class Accepts, class Use>
  bool take_first(int from, int to, Accepts accepts, Use use) {
    const auto place = find(key_of(from, to));
    auto& queue = queues_[place];
    int passed = 0;
    Place before = nothing;
    auto at = queue.key == empty ? nothing : queue.first;
    for (; at != nothing && !accepts(std::as_const(entries_[at].message)); ++passed)
      before = std::exchange(at, entries_[at].next);
    if (at == nothing) return false;
    (before == nothing ? queue.first : entries_[before].next) = entries_[at].next;
    if (queue.last == at) queue.last = before;
    if (queue.first == nothing) remove(place);
    use(std::as_const(entries_[at].message), passed);
    release(at);
    return true;
  }

 private:
  using Place = std::uint32_t;
  using Key = std::uint64_t;
  static constexpr Place nothing = std::numeric_limits<Place>::max();
  static constexpr Key empty = std::numeric_limits<Key>::max();
  static constexpr std::size_t queues_least = 64;
  /// Total bytes that received messages may keep for reuse.
  static constexpr std::size_t spare_max_bytes = std::size_t{64} << 20;

  struct Entry {
    ModelMessage message;
    Place next = nothing;
  };
  struct Queue {
    Key key = empty;
    Place first = nothing, last = nothing;
  };

  static Key key_of(int from, int to) {
    return static_cast<Key>(static_cast<std::uint32_t>(from)) << 32 |
           static_cast<std::uint32_t>(to);
  }
  /// Multiplication by the golden ratio spreads neighbours (Knuth, the same, 6.4).
  [[nodiscard]] std::size_t home_of(Key key) const {
    const Key mixed = (key ^ key >> 29) * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(mixed >> 20) & (queues_.size() - 1);
  }
  [[nodiscard]] std::size_t after(std::size_t place) const {
    return (place + 1) & (queues_.size() - 1);
  }

  /// Returns the position of a key, or where to insert it.
  [[nodiscard]] std::size_t find(Key key) const {
    auto place = home_of(key);
    while (queues_[place].key != key && queues_[place].key != empty) place = after(place);
    return place;
  }

  std::size_t find_or_add(Key key) {
    auto place = find(key);
    if (queues_[place].key == key) return place;
    if (4 * ++used_ > 3 * queues_.size()) {
      grow();
      place = find(key);
    }
    queues_[place].key = key;
    return place;
  }

  void grow() {
    const auto before = std::exchange(queues_, std::vector<Queue>(2 * queues_.size()));
    for (const auto& queue : before)
      if (queue.key != empty) queues_[find(queue.key)] = queue;
  }

  /// Closes the gap with what was pushed beyond it.
  void remove(std::size_t gap) {
    --used_;
    for (auto place = after(gap); queues_[place].key != empty; place = after(place)) {
      const auto mask = queues_.size() - 1;
      const auto pushed = (place - home_of(queues_[place].key)) & mask;
      if (pushed < ((place - gap) & mask)) continue;
      queues_[gap] = queues_[place];
      gap = place;
    }
    queues_[gap] = {};
  }

  Place fresh() {
    if (free_ == nothing) {
      entries_.emplace_back();
      return static_cast<Place>(entries_.size() - 1);
    }
    const auto place = std::exchange(free_, entries_[free_].next);
    spare_bytes_ -= entries_[place].message.data.capacity();
    return place;
  }

  void release(Place place) {
    auto& data = entries_[place].message.data;
    if (spare_bytes_ + data.capacity() > spare_max_bytes) data = {};
    spare_bytes_ += data.capacity();
    entries_[place].next = std::exchange(free_, place);
  }

  std::vector<Queue> queues_;
  std::size_t used_ = 0;
  std::vector<Entry> entries_;
  Place free_ = nothing;
  std::size_t spare_bytes_ = 0;
};
}  // namespace nhalf

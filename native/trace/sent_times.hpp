// SPDX-License-Identifier: Apache-2.0
// When messages were sent, told by their senders to their receivers: in a file that the ranks of a
// host map, with a ring for each pair. Messages with the same ends, tag and size keep their order.
// A message may overtake what its sender tells of it. Then that belongs to a message that has come,
// and is passed over: taken for the next one, it would make each later message seem old.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trace/ticks.hpp"

namespace nhalf::trace {

class SentTimes {
 public:
  static constexpr int ranks_max = 128;

  struct Sent {
    std::int32_t tag = 0;
    std::uint64_t size_bytes = 0;
    Ticks at = 0;
  };

  /// Maps the file; one that is not open if it cannot be, or another host made it.
  static SentTimes opened(const std::string& path, int rank, int ranks) {
    SentTimes times;
    if (ranks > ranks_max) return times;
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return times;
    const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    const std::size_t bytes = sizeof(Head) + pairs * sizeof(Ring);
    void* address = MAP_FAILED;
    if (ftruncate(file, static_cast<off_t>(bytes)) == 0)
      address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (address == MAP_FAILED) return times;
    auto* head = static_cast<Head*>(address);
    const auto host = this_host();
    std::uint64_t none = 0;
    if (!head->host.compare_exchange_strong(none, host) && none != host) return times;
    times.rings_ = reinterpret_cast<Ring*>(head + 1);
    times.rank_ = rank;
    times.ranks_ = ranks;
    return times;
  }

  [[nodiscard]] bool is_open() const { return rings_ != nullptr; }

  /// Tells a rank that a message was sent to it.
  void sent(int target, const Sent& message) {
    if (target >= ranks_) return;
    Ring& ring = of(rank_, target);
    const auto number = ring.written.load(std::memory_order_relaxed);
    ring.entries[number % entries] = message;
    ring.written.store(number + 1, std::memory_order_release);
  }

  /// Finds when the next message from a rank with this tag and size was sent; false if its sender
  /// has not told that yet. Of one of more than a ring that were sent meanwhile `at` is 0.
  bool take(int source, std::int32_t tag, std::uint64_t size_bytes, Ticks& at) {
    if (source >= ranks_) return false;
    auto& waiting = waiting_[source];
    Ring& ring = of(source, rank_);
    const auto written = ring.written.load(std::memory_order_acquire);
    if (written > waiting.read + entries) {
      waiting.lost += written - entries - waiting.read;
      waiting.read = written - entries;
    }
    for (; waiting.read < written; ++waiting.read)
      waiting.add(ring.entries[waiting.read % entries]);
    for (auto message = waiting.messages.begin(); message != waiting.messages.end(); ++message) {
      if (message->tag != tag || message->size_bytes != size_bytes) continue;
      at = message->at;
      waiting.messages.erase(message);
      return true;
    }
    if (waiting.lost > 0) {
      --waiting.lost;
      at = 0;
      return true;
    }
    ++waiting.early[{tag, size_bytes}];
    return false;
  }

 private:
  static constexpr std::size_t entries = 1024;

  struct Head {
    std::atomic<std::uint64_t> host;
    std::uint64_t unused[7];
  };
  struct Ring {
    std::atomic<std::uint64_t> written;
    Sent entries[SentTimes::entries];
  };
  struct Waiting {
    std::uint64_t read = 0;
    /// Messages that were overwritten before they were read.
    std::uint64_t lost = 0;
    std::deque<Sent> messages;
    /// By tag and size, messages that came before they were told of.
    std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t> early;

    void add(const Sent& message) {
      const auto came = early.find({message.tag, message.size_bytes});
      if (came == early.end())
        messages.push_back(message);
      else if (--came->second == 0)
        early.erase(came);
    }
  };

  static std::uint64_t this_host() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return std::hash<std::string_view>{}(name) | 1U;
  }
  Ring& of(int source, int target) {
    return rings_[static_cast<std::size_t>(source) * static_cast<std::size_t>(ranks_) +
                  static_cast<std::size_t>(target)];
  }

  Ring* rings_ = nullptr;
  int rank_ = 0;
  int ranks_ = 0;
  std::map<int, Waiting> waiting_;
};

}  // namespace nhalf::trace

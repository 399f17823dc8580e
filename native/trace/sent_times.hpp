// When messages were sent, told by their senders to their receivers: in a file that the ranks of a
// host map, with a ring for each pair. Messages with the same ends, tag and size keep their order.
// Threads of both ends may come at a time. Space for a ring is taken at its first message: where
// none is left, a page of a file with holes would end the process by a signal. A message may
// overtake what its sender tells of it. Then that belongs to a message that has come, and is passed
// over: taken for the next one, it would make each later message seem old.
#pragma once

#include <sys/stat.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "trace/file.hpp"
#include "trace/shared.hpp"
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
    const std::size_t bytes = bytes_of(ranks);
    void* address = MAP_FAILED;
    if (may_have_bytes(bytes) && ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
        posix_fallocate(file, 0, sizeof(Head)) == 0)
      address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (address == MAP_FAILED) return times;
    auto* head = static_cast<Head*>(address);
    const auto host = this_host();
    std::uint64_t none = 0;
    if (!head->host.compare_exchange_strong(none, host) && none != host) return times;
    times.path_ = path;
    times.head_ = head;
    times.rank_ = rank;
    times.ranks_ = ranks;
    times.partners_ = std::make_unique<Partner[]>(static_cast<std::size_t>(ranks));
    return times;
  }

  /// Returns the length of the file, of which only what is used takes space.
  static std::size_t bytes_of(int ranks) {
    const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    return sizeof(Head) + pairs * sizeof(Ring);
  }

  /// Whether some rank has made the file as long as it must be.
  static bool is_made(const std::string& path, int ranks) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 &&
           static_cast<std::size_t>(status.st_size) == bytes_of(ranks);
  }

  [[nodiscard]] bool is_open() const { return head_ != nullptr; }

  /// Tells a rank that a message was sent to it; false if there is no space for that.
  bool sent(int target, const Sent& message) {
    if (target < 0 || target >= ranks_) return true;
    const std::lock_guard guard(partners_[static_cast<std::size_t>(target)].sending);
    if (!has_ring(target)) return false;
    Ring& ring = of(rank_, target);
    const auto number = ring.written.load(std::memory_order_relaxed);
    ring.entries[number % entries] = message;
    ring.written.store(number + 1, std::memory_order_release);
    return true;
  }

  /// Finds when the next message from a rank with this tag and size was sent; false if its sender
  /// has not told that yet. Of one of more than a ring that were sent meanwhile, or of a sender
  /// without space for its ring, `at` is 0.
  bool take(int source, std::int32_t tag, std::uint64_t size_bytes, Ticks& at) {
    if (source < 0 || source >= ranks_) return false;
    auto& waiting = partners_[static_cast<std::size_t>(source)];
    const std::lock_guard guard(waiting.receiving);
    const auto state = ring_of(source, rank_).load(std::memory_order_acquire);
    if (state == without_space) {
      at = 0;
      return true;
    }
    if (state != begun) {
      ++waiting.early[{tag, size_bytes}];
      return false;
    }
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

  static constexpr std::uint8_t begun = 1;
  static constexpr std::uint8_t without_space = 2;

  struct Head {
    std::atomic<std::uint64_t> host;
    std::uint64_t unused[7];
    /// By pair, whether its ring has space; 0 before its first message.
    std::atomic<std::uint8_t> rings[ranks_max * ranks_max];
  };
  struct Ring {
    std::atomic<std::uint64_t> written;
    Sent entries[SentTimes::entries];
  };
  /// What concerns one other rank, of which two threads may send to it or receive from it.
  struct Partner {
    Lock sending;
    Lock receiving;
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
  [[nodiscard]] std::size_t pair(int source, int target) const {
    return static_cast<std::size_t>(source) * static_cast<std::size_t>(ranks_) +
           static_cast<std::size_t>(target);
  }
  std::atomic<std::uint8_t>& ring_of(int source, int target) {
    return head_->rings[pair(source, target)];
  }
  Ring& of(int source, int target) {
    return reinterpret_cast<Ring*>(head_ + 1)[pair(source, target)];
  }

  /// Whether there is a ring for messages to a rank; takes space for it at the first one.
  bool has_ring(int target) {
    auto& state = ring_of(rank_, target);
    if (state.load(std::memory_order_relaxed) == 0)
      state.store(takes_space(target) ? begun : without_space, std::memory_order_release);
    return state.load(std::memory_order_relaxed) == begun;
  }
  bool takes_space(int target) {
    const auto offset = sizeof(Head) + pair(rank_, target) * sizeof(Ring);
    if (!may_have_bytes(offset + sizeof(Ring))) return false;
    const auto file = Descriptor::opened(path_.c_str());
    return file.error() == 0 && posix_fallocate(file.number(), static_cast<off_t>(offset),
                                                static_cast<off_t>(sizeof(Ring))) == 0;
  }

  std::string path_;
  Head* head_ = nullptr;
  int rank_ = 0;
  int ranks_ = 0;
  std::unique_ptr<Partner[]> partners_;
};
}  // namespace nhalf::trace

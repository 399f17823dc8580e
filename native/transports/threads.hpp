// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: Threads
// Ranks are threads of one process; messages pass through memory that they share.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "host/cores.hpp"
#include "timing/clock.hpp"
#include "transports/bases/message_collectives.hpp"

namespace nhalf {

/// How often a waiting thread looks before it lets others run. Where ranks outnumber cores, the one
/// that is waited for may need this very core.
inline int spins_before_yield = 4000;

/// Spins while there is hope, then lets others run.
template <class Ready>
void spin_until(Ready ready) {
  for (int spins = 0; !ready(); ++spins) {
    if (spins < spins_before_yield) {
      __builtin_ia32_pause();
    } else {
      std::this_thread::yield();
    }
  }
}

/// Messages from one rank to one other: a ring of slots, written by the one and read by the other.
/// Short messages are copied into the slot; long ones are read from the sender's memory.
class ThreadChannel {
 public:
  static constexpr std::size_t slots = 8;
  static constexpr std::size_t eager_bytes = 1024;

  /// Puts a message into the next slot; the number that `taken` asks about.
  std::uint64_t put(ConstBytes data, bool by_reference) {
    const auto number = written_++;
    auto& slot = ring_[number % slots];
    spin_until([&] { return slot.turn.load(std::memory_order_acquire) == 2 * (number / slots); });
    slot.size = data.size();
    slot.source = by_reference ? data.data() : nullptr;
    if (!by_reference && !data.empty()) std::memcpy(slot.data.data(), data.data(), data.size());
    slot.turn.store(2 * (number / slots) + 1, std::memory_order_release);
    return number;
  }

  /// Takes the next message.
  void take(Bytes data) {
    const auto number = read_++;
    auto& slot = ring_[number % slots];
    spin_until(
        [&] { return slot.turn.load(std::memory_order_acquire) == 2 * (number / slots) + 1; });
    const std::byte* source = slot.source != nullptr ? slot.source : slot.data.data();
    const auto size_bytes = std::min(slot.size, data.size());
    if (size_bytes > 0) std::memcpy(data.data(), source, size_bytes);
    slot.turn.store(2 * (number / slots) + 2, std::memory_order_release);
  }

  /// Whether the next message is there.
  [[nodiscard]] bool holds_message() const {
    const auto turn = ring_[read_ % slots].turn.load(std::memory_order_acquire);
    return turn == 2 * (read_ / slots) + 1;
  }

  /// Whether the receiver has taken message `number`.
  [[nodiscard]] bool has_taken(std::uint64_t number) const {
    const auto turn = ring_[number % slots].turn.load(std::memory_order_acquire);
    return turn >= 2 * (number / slots) + 2;
  }

  /// Waits until the receiver has taken message `number`.
  void wait_taken(std::uint64_t number) {
    spin_until([&] { return has_taken(number); });
  }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn{0};
    std::size_t size = 0;
    const std::byte* source = nullptr;
    std::array<std::byte, eager_bytes> data;
  };
  std::array<Slot, slots> ring_;
  alignas(64) std::uint64_t written_ = 0;
  alignas(64) std::uint64_t read_ = 0;
};

/// What all threads share.
class ThreadTeam {
 public:
  explicit ThreadTeam(int count)
      : ranks(count),
        channels_(static_cast<std::size_t>(count) * static_cast<std::size_t>(count)) {}

  /// The channel between two ranks, made when either side first needs it.
  ThreadChannel& channel(int from, int to) {
    const std::lock_guard lock(mutex_);
    auto& channel = channels_[static_cast<std::size_t>(from * ranks + to)];
    if (!channel) channel = std::make_unique<ThreadChannel>();
    return *channel;
  }

  int ranks;
  std::atomic<int> waiting{0};
  std::atomic<std::uint64_t> barriers{0};
  std::atomic<bool> agreed{true};
  Bytes shared;
  std::vector<std::string> gathered;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadChannel>> channels_;
};

/// One thread as a rank.
class ThreadsTransport : public MessageCollectives<ThreadsTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  static constexpr OptionInfo described[] = {
      {"bind", "1", "", "1: each thread on a core of its own, where there are enough"},
      ClockError::described[0],
      ClockError::described[1]};
  static constexpr TransportInfo info{"threads", "threads of one process that share memory",
                                      described};
  static constexpr std::string_view clock_name = SteadyClock::name;

  /// A started send that may have to be waited for, or a receive that is done when waited for.
  struct Request {
    ThreadChannel* sent = nullptr;
    std::uint64_t number = 0;
    int from = -1;
    Bytes data;
  };

  template <class Body>
  static int launch(int, char**, int ranks, const Options& options, Body body) {
    ThreadTeam team(ranks);
    team.gathered.resize(static_cast<std::size_t>(ranks));
    const auto cpus = allowed_cpus();
    const bool bind =
        options.number("bind", 1) != 0 && cpus.size() >= static_cast<std::size_t>(ranks);
    spins_before_yield = cpus.size() >= static_cast<std::size_t>(ranks) ? 4000 : 10;
    const SteadyClock clock;
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&team, &cpus, &body, &clock, &options, bind, rank] {
        if (bind) bind_to(cpus[static_cast<std::size_t>(rank)]);
        ThreadsTransport transport(team, rank, clock, ClockError(options, rank));
        body(transport);
      });
    }
    return 0;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return team_.ranks; }
  [[nodiscard]] double now_s() const { return clock_error_.shown_s(clock_.now_s()); }

  void send(int peer, ConstBytes data) {
    auto request = isend(peer, data);
    wait(request);
  }
  void ssend(int peer, ConstBytes data) {
    auto& channel = to(peer);
    channel.wait_taken(channel.put(data, true));
  }
  void rsend(int peer, ConstBytes data) { send(peer, data); }
  void recv(int peer, Bytes data) { from(peer).take(data); }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    auto sent = isend(to, out);
    recv(from, in);
    wait(sent);
  }

  Request isend(int peer, ConstBytes data) {
    const bool by_reference = data.size() > ThreadChannel::eager_bytes;
    auto& channel = to(peer);
    const auto number = channel.put(data, by_reference);
    return {by_reference ? &channel : nullptr, number, -1, {}};
  }
  Request irecv(int peer, Bytes data) { return {nullptr, 0, peer, data}; }
  void wait(Request& request) {
    if (request.sent != nullptr) request.sent->wait_taken(request.number);
    if (request.from >= 0) recv(request.from, request.data);
    request = {};
  }
  /// Looks at each in turn, so that no sender is always the last to be heard.
  std::size_t wait_any(std::span<Request> requests) {
    const auto count = requests.size();
    std::size_t found = count;
    spin_until([&] {
      bool any = false;
      for (std::size_t i = 0; i < count && found == count; ++i) {
        const auto place = (looked_at_ + i) % count;
        any = any || requests[place].sent != nullptr || requests[place].from >= 0;
        if (is_done(requests[place])) found = place;
      }
      return found < count || !any;
    });
    if (found == count) return count;
    looked_at_ = found + 1;
    wait(requests[found]);
    return found;
  }

  void barrier() {
    const auto turn = team_.barriers.load(std::memory_order_acquire);
    if (team_.waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == team_.ranks) {
      team_.waiting.store(0, std::memory_order_relaxed);
      team_.barriers.store(turn + 1, std::memory_order_release);
    } else {
      spin_until([&] { return team_.barriers.load(std::memory_order_acquire) != turn; });
    }
  }
  /// What threads have instead of messages to wait for each other.
  void synchronise() { barrier(); }
  void broadcast(Bytes data) {
    if (rank_ == 0) team_.shared = data;
    barrier();
    if (rank_ != 0 && !data.empty()) std::memcpy(data.data(), team_.shared.data(), data.size());
    barrier();
  }
  bool all(bool mine) {
    if (!mine) team_.agreed.store(false);
    barrier();
    const bool verdict = team_.agreed.load();
    barrier();
    if (rank_ == 0) team_.agreed.store(true);
    barrier();
    return verdict;
  }
  std::vector<std::string> gather(const std::string& text) {
    team_.gathered[static_cast<std::size_t>(rank_)] = text;
    barrier();
    auto all_texts = rank_ == 0 ? team_.gathered : std::vector<std::string>{};
    barrier();
    return all_texts;
  }
  [[nodiscard]] std::string library() const { return "threads of one process"; }

 private:
  ThreadsTransport(ThreadTeam& team, int rank, const SteadyClock& clock, ClockError clock_error)
      : team_(team), rank_(rank), clock_(clock), clock_error_(clock_error) {
    for (int peer = 0; peer < team.ranks; ++peer) {
      to_.push_back(nullptr);
      from_.push_back(nullptr);
    }
  }

  /// Whether `wait` would return at once from a request that is not done with.
  bool is_done(const Request& request) {
    if (request.sent != nullptr) return request.sent->has_taken(request.number);
    return request.from >= 0 && from(request.from).holds_message();
  }

  static void bind_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }

  ThreadChannel& to(int peer) {
    auto& channel = to_[static_cast<std::size_t>(peer)];
    if (channel == nullptr) channel = &team_.channel(rank_, peer);
    return *channel;
  }
  ThreadChannel& from(int peer) {
    auto& channel = from_[static_cast<std::size_t>(peer)];
    if (channel == nullptr) channel = &team_.channel(peer, rank_);
    return *channel;
  }

  ThreadTeam& team_;
  int rank_;
  std::size_t looked_at_ = 0;
  SteadyClock clock_;
  ClockError clock_error_;
  std::vector<ThreadChannel*> to_;
  std::vector<ThreadChannel*> from_;
};

}  // namespace nhalf

NHALF_TRANSPORT(nhalf::ThreadsTransport);

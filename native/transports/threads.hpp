// nhalf-needs: Threads
// Ranks are threads of one process; messages pass through memory that they share.
#pragma once

#include <pthread.h>

#include "contract/pattern.hpp"
#include "timing/clock.hpp"
#include "transports/bases/copies.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/polled_requests.hpp"
#include "transports/threads/team.hpp"

namespace nhalf {
/// The transport of one thread as a rank.
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
  /// A further send to the same rank waits until one was received.
  static constexpr std::size_t sends_under_way_max = ThreadChannel::slots;

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
  std::size_t wait_any(std::span<Request> requests) {
    const auto completed = in_turn_.first_done(
        requests, [](auto holds) { spin_until(holds); },
        [](const Request& request) { return request.sent != nullptr || request.from >= 0; },
        [this](const Request& request) { return is_done(request); });
    if (completed < requests.size()) wait(requests[completed]);
    return completed;
  }

  using Region = ThreadRegion;
  /// Throws std::bad_alloc at every rank where one of them has no memory.
  Region expose(std::size_t size_bytes) {
    std::unique_ptr<ThreadPart> own;
    try {
      own = std::make_unique<ThreadPart>(size_bytes);
    } catch (const std::bad_alloc&) {
    }
    if (!all(own != nullptr)) throw std::bad_alloc();
    team_.exposed[static_cast<std::size_t>(rank_)] = own.get();
    barrier();
    Region region(std::move(own), team_.exposed);
    barrier();
    return region;
  }
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    watched_put(region.of(peer), offset, data);
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    if (!data.empty()) std::memcpy(data.data(), region.of(peer).data() + offset, data.size());
  }
  [[nodiscard]] Bytes mapped(const Region& region, int peer) const { return region.of(peer); }
  template <class Holds>
  void until(Holds holds) const {
    spin_until(holds);
  }
  void complete(Region&, int) { std::atomic_thread_fence(std::memory_order_release); }
  void signal(Region& region, int peer, int slot) {
    region.signal(peer, slot).fetch_add(1, std::memory_order_release);
  }
  void await_signal(Region& region, int slot) {
    auto& mine = region.own_signal(slot);
    spin_until([&] { return mine.load(std::memory_order_acquire) > 0; });
    mine.fetch_sub(1, std::memory_order_relaxed);
  }
  void withdraw(Region& region) {
    barrier();
    region.forget();
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
  /// Synchronisation of threads without messages.
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
  PolledRequests in_turn_;
  SteadyClock clock_;
  ClockError clock_error_;
  std::vector<ThreadChannel*> to_;
  std::vector<ThreadChannel*> from_;
};

static_assert(MappedMemory<ThreadsTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::ThreadsTransport);

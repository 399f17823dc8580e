// What a transport must be able to do, and what it may be able to do more.
#pragma once

#include <cmath>
#include <thread>

#include "contract/vocabulary.hpp"

namespace nhalf {
using ConstBytes = std::span<const std::byte>;
using Bytes = std::span<std::byte>;

/// An option that a transport understands, as `--describe` shows it.
struct OptionInfo {
  std::string_view name;
  std::string_view fallback;
  std::string_view unit;
  std::string_view what;
};

/// What `--describe` says about a transport.
struct TransportInfo {
  std::string_view name;
  std::string_view what;
  std::span<const OptionInfo> options;
};

/// Ranks that measure together, whatever they send: `now_s` is their clock in seconds, which may be
/// virtual. `broadcast`, `all` and `gather` serve control outside of timed batches: from rank 0 to
/// all, the AND over all ranks, and every rank's text at rank 0 (empty elsewhere). `library` names
/// what carries the data.
template <class T>
concept Controlled = requires(T& transport, Bytes in, std::string text) {
  { T::info } -> std::convertible_to<const TransportInfo&>;
  { transport.rank() } -> std::same_as<int>;
  { transport.size() } -> std::same_as<int>;
  { transport.now_s() } -> std::same_as<double>;
  transport.barrier();
  transport.broadcast(in);
  { transport.all(true) } -> std::same_as<bool>;
  { transport.gather(text) } -> std::same_as<std::vector<std::string>>;
  { transport.library() } -> std::same_as<std::string>;
};

/// Primitives only: traffic belongs to patterns, time to the sampler. `send` returns when the data
/// may be overwritten, `recv` when it has arrived; both name their peer.
template <class T>
concept Transport = Controlled<T> && requires(T& transport, int peer, ConstBytes out, Bytes in) {
  transport.send(peer, out);
  transport.recv(peer, in);
};

/// Sends one message and receives one at the same time, without deadlock; the peers may differ.
template <class T>
concept Duplex = Transport<T> && requires(T& transport, int peer, ConstBytes out, Bytes in) {
  transport.exchange(peer, out, peer, in);
};

/// Starts sends and receives and waits for them later.
template <class T>
concept NonBlocking = Transport<T> && requires(T& transport, int peer, ConstBytes out, Bytes in,
                                               typename T::Request& request) {
  { transport.isend(peer, out) } -> std::same_as<typename T::Request>;
  { transport.irecv(peer, in) } -> std::same_as<typename T::Request>;
  transport.wait(request);
};

/// Waits for whichever of several started operations is done first: its place among them, or their
/// number where none was left. No two of them receive from the same rank.
template <class T>
concept FirstDone =
    NonBlocking<T> && requires(T& transport, std::span<typename T::Request> requests) {
      { transport.wait_any(requests) } -> std::same_as<std::size_t>;
    };

/// A send that returns only after the matching receive has started.
template <class T>
concept SynchronousSend = Transport<T> && requires(T& transport, int peer, ConstBytes out) {
  transport.ssend(peer, out);
};

/// A send through a buffer that the caller attached: room for `messages` of `size_bytes` each.
template <class T>
concept BufferedSend = Transport<T> && requires(T& transport, int peer, ConstBytes out) {
  transport.bsend(peer, out);
  transport.attach_buffer(std::size_t{}, int{});
  transport.detach_buffer();
};

/// A send whose matching receive is known to be posted.
template <class T>
concept ReadySend = Transport<T> && requires(T& transport, int peer, ConstBytes out) {
  transport.rsend(peer, out);
};

/// Signals that a region has at every rank.
struct OneSidedLimits {
  static constexpr int slots = 16;
};

/// Memory of each rank that others write and read without its doing. `expose` and `withdraw` are
/// called by all ranks; `local` is the rank's own memory, zeros at first. `put` returns when the
/// source may be overwritten, `get` when the data is here. After `complete` earlier puts to that
/// rank are visible there. A signal arrives after them, too: each of them is awaited once.
template <class T>
concept OneSided =
    Transport<T> && requires(T& transport, typename T::Region& region, int peer, std::size_t offset,
                             ConstBytes out, Bytes in, int slot) {
      { transport.expose(std::size_t{}) } -> std::same_as<typename T::Region>;
      { region.local() } -> std::same_as<Bytes>;
      transport.put(region, peer, offset, out);
      transport.get(region, peer, offset, in);
      transport.complete(region, peer);
      transport.signal(region, peer, slot);
      transport.await_signal(region, slot);
      transport.withdraw(region);
    };

/// A put and its signal in one operation, which may go a shorter way than both apart: what is put
/// may be there only when the signal is awaited, and nothing else goes to its place before.
template <class T>
concept SignallingPuts = OneSided<T> && requires(T& transport, typename T::Region& region, int peer,
                                                 std::size_t offset, ConstBytes out, int slot) {
  transport.put_and_signal(region, peer, offset, out, slot);
};

/// Regions that other ranks have mapped: what is stored in `mapped` is seen there without a call,
/// by whoever waits `until` it is. Of a put the last eight bytes are seen last, where they are
/// aligned.
template <class T>
concept MappedMemory =
    OneSided<T> && requires(T& transport, typename T::Region& region, int peer, bool (*holds)()) {
      { transport.mapped(region, peer) } -> std::same_as<Bytes>;
      transport.until(holds);
    };

/// Rank 0's value at every rank.
template <Controlled T, class Value>
  requires std::is_trivially_copyable_v<Value>
void share(T& transport, Value& value) {
  transport.broadcast(std::as_writable_bytes(std::span(&value, 1)));
}

/// Rank 0's text at every rank.
template <Controlled T>
void share(T& transport, std::string& text) {
  std::uint64_t length = text.size();
  share(transport, length);
  text.resize(length);
  if (length > 0) transport.broadcast(std::as_writable_bytes(std::span(text)));
}

/// Waits for several started sends and receives, in one call where the transport has one.
template <NonBlocking T>
void wait_all(T& transport, std::span<typename T::Request> requests) {
  if constexpr (requires { transport.wait_all(requests); }) {
    transport.wait_all(requests);
  } else {
    for (auto& request : requests) transport.wait(request);
  }
}

/// Simulated ranks that read one clock, and do every time what they did the first time: one sample
/// says all. Large messages hold no data there, so that patterns are verified with small ones.
template <class T>
inline constexpr bool is_exact = requires { requires T::exact; };

/// Simulated ranks that are one thread of this host: it says the same of all of them.
template <class T>
inline constexpr bool is_one_thread = requires { requires T::one_thread; };

/// A clock that can be advanced without being watched, as virtual clocks must be.
template <class T>
concept Idling = Transport<T> && requires(T& transport) { transport.idle_until(double{}); };

/// Ranks that compute where the clock is: simulated ones take no time for what they compute.
template <class T>
concept Computing = Transport<T> && !Idling<T> && !is_exact<T>;

/// Whether a clock is virtual although the code that reads it is that of real machines: a library
/// on a virtual network (fabric/). It stands still while ranks compute, is one for all of
/// them, and shows whole picoseconds.
template <class Clock>
bool has_virtual_clock(const Clock& clock) {
  if constexpr (requires { clock.has_virtual_clock(); }) {
    return clock.has_virtual_clock();
  } else {
    return false;
  }
}

/// A time between two readings of such a clock, which doubles keep to a small part of a picosecond.
inline double whole_picoseconds(double time_s) {
  return std::round(time_s * 1e12) * 1e-12;
}

/// Waits until this rank's clock shows `clock_s`; the last reading, at or after that time. Long
/// waits let others run, for ranks may outnumber cores.
template <Transport T>
double idle_until(T& transport, double clock_s) {
  constexpr double long_s = 1e-4;
  if constexpr (requires { transport.sleep_until(clock_s); }) {
    if (has_virtual_clock(transport)) return transport.sleep_until(clock_s);
  }
  if constexpr (Idling<T>) transport.idle_until(clock_s);
  double now_s = transport.now_s();
  while (now_s < clock_s && !Idling<T>) {
    if (clock_s - now_s > long_s) std::this_thread::yield();
    now_s = transport.now_s();
  }
  return now_s;
}

template <Transport T>
void idle_for(T& transport, double seconds) {
  idle_until(transport, transport.now_s() + seconds);
}

/// Lets a microsecond pass for each round.
template <Transport T>
void pass_rounds(T& transport, std::uint64_t rounds) {
  idle_for(transport, 1e-6 * static_cast<double>(rounds));
}

/// Every rank's numbers at rank 0, rank by rank; empty elsewhere. All ranks give equally many.
template <Controlled T>
std::vector<double> collect(T& transport, std::span<const double> mine) {
  if constexpr (requires { transport.collect(mine); }) {
    return transport.collect(mine);
  } else {
    const auto texts = transport.gather(
        std::string(reinterpret_cast<const char*>(mine.data()), mine.size_bytes()));
    std::vector<double> everyone(texts.size() * mine.size());
    for (std::size_t rank = 0; rank < texts.size(); ++rank)
      std::memcpy(everyone.data() + rank * mine.size(), texts[rank].data(), mine.size_bytes());
    return everyone;
  }
}
}  // namespace nhalf

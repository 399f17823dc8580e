// nhalf-needs: MPI
// Control messages about the measurement between ranks that MPI started, for any transport of data.
#pragma once

#include <mpi.h>

#include <chrono>
#include <exception>
#include <numeric>

#include "contract/collectives.hpp"
#include "host/kernel_files.hpp"
#include "host/virtual_clock.hpp"
#include "timing/clock.hpp"
#include "transports/bases/threefold.hpp"

namespace nhalf {
/// Every rank's text at every rank, by rank; the texts may hold any bytes. All ranks call it.
template <class T>
std::vector<std::string> texts_of_all(T& control, const std::string& mine) {
  auto texts = control.gather(mine);
  texts.resize(static_cast<std::size_t>(control.size()));
  for (auto& text : texts) {
    std::uint64_t length = text.size();
    control.broadcast(std::as_writable_bytes(std::span(&length, 1)));
    text.resize(length);
    if (length > 0) control.broadcast(std::as_writable_bytes(std::span(text)));
  }
  return texts;
}

/// Has every rank send to every other, which makes all connections: they would else be part of the
/// first message.
template <class T>
void connect_all(T& transport) {
  std::byte nothing{};
  const int rank = transport.rank(), size = transport.size();
  for (int step = 1; step < size; ++step)
    transport.exchange((rank + step) % size, {&nothing, 1}, (rank + size - step) % size,
                       {&nothing, 1});
}

// Starts and ends MPI, and times both.

/// Times of the start and the end of MPI in a process.
struct MpiStart {
  /// Seconds from the call of the launcher until MPI was ready; below 0 if unknown, as on other
  /// hosts.
  static inline double launched_s = -1;
  /// Seconds in MPI_Init.
  static inline double initialised_s = 0;
  /// Seconds in MPI_Finalize.
  static inline double finalised_s = 0;
  /// By partner of rank 0; empty if nobody asked.
  static inline std::vector<RoundTrips> first_messages;

  /// Starts MPI at a level of threads, for several that call it if the option `threads` is set, and
  /// times the first messages before there are any others if the option `first` is.
  static void start(int argc, char** argv, const Options& options, int level) {
    const double began_s = now_s();
    if (options.number("threads", 0.0) > 0) level = MPI_THREAD_MULTIPLE;
    if (level != MPI_THREAD_SINGLE) {
      MPI_Init_thread(&argc, &argv, level, &level);
    } else {
      MPI_Init(&argc, &argv);
    }
    const double ready_s = now_s();
    initialised_s = ready_s - began_s;
    if (const auto launch_s = launch_of_this_host_s(); launch_s > 0)
      launched_s = ready_s - launch_s;
    if (options.number("first", 0.0) > 0) exchange_first_messages();
  }

  static void finish() {
    const double began_s = now_s();
    MPI_Finalize();
    finalised_s = now_s() - began_s;
  }

 private:
  /// By when all ranks are out of MPI_Init: none can say so without a message.
  static constexpr double settling_s = 0.2;

  static void exchange_first_messages() {
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const VirtualClock virtual_clock;
    const bool is_virtual = virtual_clock.is_here();
    const auto clock_s = [&] { return is_virtual ? virtual_clock.now_s() : now_s(); };
    if (rank == 0 && is_virtual) virtual_clock.sleep_until(clock_s() + settling_s);
    if (rank == 0 && !is_virtual) usleep(static_cast<useconds_t>(settling_s * 1e6));
    char byte = 0;
    const auto send = [&](int peer) { MPI_Send(&byte, 1, MPI_BYTE, peer, 0, MPI_COMM_WORLD); };
    const auto recv = [&](int peer) {
      MPI_Recv(&byte, 1, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    first_messages.resize(static_cast<std::size_t>(size));
    for (int partner = 1; partner < size; ++partner)
      first_messages[static_cast<std::size_t>(partner)] =
          RoundTrips::of(rank, partner, clock_s, send, recv);
  }
  static double now_s() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }
  /// NHALF_LAUNCHED is `host:seconds` of the launcher's start on the clock that does not go back.
  static double launch_of_this_host_s() {
    const char* variable = std::getenv("NHALF_LAUNCHED");
    if (variable == nullptr) return 0;
    const std::string text = variable;
    const auto cut = text.find(':');
    if (cut == std::string::npos || text.substr(0, cut) != boot_id()) return 0;
    return std::strtod(text.c_str() + cut + 1, nullptr);
  }
};

/// Control by the collectives of MPI on MPI_COMM_WORLD, and the host's clock, or that of the
/// virtual network.
class MpiControl {
 public:
  static constexpr std::string_view clock_name = SteadyClock::name;

  explicit MpiControl(const Options& options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    clock_error_ = ClockError(options, rank_);
    if (!has_virtual_clock()) share_epoch();
  }
  MpiControl(const MpiControl&) = delete;
  MpiControl& operator=(const MpiControl&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] double now_s() const {
    return has_virtual_clock() ? virtual_clock_.now_s() : clock_error_.shown_s(clock_.now_s());
  }
  [[nodiscard]] bool has_virtual_clock() const { return virtual_clock_.is_here(); }
  double sleep_until(double clock_s) { return virtual_clock_.sleep_until(clock_s); }

  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  void broadcast(Bytes data) { broadcast(data, MPI_COMM_WORLD); }
  bool all(bool mine) {
    std::array<int, copies> verdicts{};
    verdicts.fill(mine ? 1 : 0);
    MPI_Allreduce(MPI_IN_PLACE, verdicts.data(), copies, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return std::ranges::count(verdicts, 0) < 2;
  }
  std::vector<std::string> gather(const std::string& text) {
    const auto length = static_cast<int>(text.size());
    auto lengths = everybodys(length);
    const auto sent = threefold(std::as_bytes(std::span(text)));
    for (auto& length_bytes : lengths) length_bytes *= static_cast<int>(copies);
    std::vector<int> offsets(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    std::vector<std::byte> arrived(rank_ == 0 ? static_cast<std::size_t>(offsets.back()) : 0);
    MPI_Gatherv(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, arrived.data(),
                lengths.data(), offsets.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
    std::vector<std::string> all_texts;
    for (std::size_t i = 0; rank_ == 0 && i < lengths.size(); ++i) {
      const auto size = static_cast<std::size_t>(lengths[i]);
      all_texts.emplace_back(size / copies, ' ');
      restore(std::span(arrived).subspan(static_cast<std::size_t>(offsets[i]), size),
              std::as_writable_bytes(std::span(all_texts.back())));
    }
    return all_texts;
  }
  std::vector<double> collect(std::span<const double> mine) {
    const auto sent = threefold(std::as_bytes(mine));
    const auto ranks = static_cast<std::size_t>(rank_ == 0 ? size_ : 0);
    std::vector<std::byte> arrived(ranks * sent.size());
    MPI_Gather(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, arrived.data(),
               static_cast<int>(sent.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    std::vector<double> everyone(ranks * mine.size());
    restore_each(arrived, sent.size(), std::as_writable_bytes(std::span(everyone)));
    return everyone;
  }

  /// Every rank's value at every rank, by rank: how addresses are exchanged.
  template <class Value>
    requires std::is_trivially_copyable_v<Value>
  std::vector<Value> everybodys(const Value& mine) {
    std::vector<Value> values(static_cast<std::size_t>(size_));
    const auto sent = threefold(std::as_bytes(std::span(&mine, 1)));
    std::vector<std::byte> arrived(values.size() * sent.size());
    MPI_Allgather(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, arrived.data(),
                  static_cast<int>(sent.size()), MPI_BYTE, MPI_COMM_WORLD);
    restore_each(arrived, sent.size(), std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Whether all ranks run on one host.
  bool is_one_host() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int beside = 0;
    MPI_Comm_size(node, &beside);
    MPI_Comm_free(&node);
    return all(beside == size_);
  }

 private:
  void broadcast(Bytes data, MPI_Comm among) {
    auto sent = threefold(data);
    MPI_Bcast(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, 0, among);
    restore(sent, data);
  }

  /// Restores the data of one rank after the other, each of which sent `length` bytes.
  static void restore_each(ConstBytes arrived, std::size_t length, Bytes data) {
    for (std::size_t at = 0; at < arrived.size(); at += length)
      restore(arrived.subspan(at, length), data.subspan(at / copies, length / copies));
  }

  /// Ranks of one host share an epoch. Hosts do not: where one has been up for months longer, its
  /// readings would be so large that nanoseconds are lost in them.
  void share_epoch() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    auto epoch_ns = clock_.epoch_ns();
    broadcast(std::as_writable_bytes(std::span(&epoch_ns, 1)), node);
    clock_.set_epoch_ns(epoch_ns);
    MPI_Comm_free(&node);
  }

  int rank_ = 0;
  int size_ = 1;
  VirtualClock virtual_clock_;
  SteadyClock clock_;
  ClockError clock_error_;
};

/// Reports why this rank ends, and which rank it is, so that observers do not take it for the first
/// to end.
inline void give_up(const std::exception& error) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "probe: rank %d: %s\n", rank, error.what());
}

/// Runs a body on transport T in a process that MPI started. What one rank cannot do ends them all.
template <class T, class Body>
int launch_by_mpi(int argc, char** argv, const Options& options, Body body,
                  int level = MPI_THREAD_SINGLE) {
  MpiStart::start(argc, argv, options, level);
  try {
    T transport(options);
    body(transport);
  } catch (const std::exception& error) {
    give_up(error);
    // Lets observers first see what made this rank give up, such as the end of another rank.
    usleep(200000);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MpiStart::finish();
  return 0;
}

/// What starts a transport Self whose ranks MPI starts.
template <class Self>
struct StartedByMpi {
  template <class Body>
  static int launch(int argc, char** argv, int, const Options& options, Body body) {
    return launch_by_mpi<Self>(argc, argv, options, body);
  }
};
}  // namespace nhalf

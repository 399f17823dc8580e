// nhalf-needs: MPI
// nhalf-links: -lpvm3
// nhalf-package: pvm-dev
// Messages of the Parallel Virtual Machine (PVM), whose daemon runs for as long as the ranks do.
#pragma once

#include <pvm3.h>
#include <sys/time.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/bases/peer_watch.hpp"
#include "transports/bases/ring_queue.hpp"
#include "transports/pvm/daemon.hpp"

namespace nhalf {

/// PVM on one host. A send is over when PVM has taken the data, which it packs nowhere else
/// (pvm_psend); a receive sleeps in PVM as its programs do.
class PvmTransport : public MpiControl, public MessageCollectives<PvmTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using MpiControl::gather;
  static constexpr OptionInfo described[] = {
      {"route", "direct", "", "direct: ranks are connected; daemon: it passes on every message"},
      ClockError::described[0],
      ClockError::described[1]};
  static constexpr TransportInfo info{"pvm", "messages of the Parallel Virtual Machine", described};

  /// A started send or receive; `peer` is -1 where there is nothing to wait for.
  struct Request {
    int peer = -1;
    bool receives = false;
    std::uint64_t number = 0;
  };

  explicit PvmTransport(const Options& options) : MpiControl(options) {
    if (!is_one_host())
      throw std::runtime_error(
          "transport pvm is for one host: its daemon is not started on others");
    const auto route = options.text("route", "direct");
    if (route != "direct" && route != "daemon")
      throw InputError("route=" + route + " is neither direct nor daemon");
    enrol();
    pvm_setopt(PvmRoute, route == "direct" ? PvmRouteDirect : PvmDontRoute);
    peers_ = everybodys(pvm_mytid());
    incoming_.resize(peers_.size());
    watch_ = PeerWatch::of(static_cast<MpiControl&>(*this));
    meet();
    barrier();
    daemon_.remove_files();
  }
  /// The daemon ends after all ranks have left it.
  ~PvmTransport() {
    if (std::uncaught_exceptions() > 0) return;
    barrier();
    pvm_exit();
    barrier();
  }

  template <class Body>
  static int launch(int argc, char** argv, int, const Options& options, Body body) {
    return launch_by_mpi<PvmTransport>(argc, argv, options, body);
  }

  void send(int peer, ConstBytes data) {
    // It takes no const, and writes nothing there.
    auto* bytes = reinterpret_cast<char*>(const_cast<std::byte*>(data.data()));
    check(pvm_psend(tid(peer), tag, bytes, static_cast<int>(data.size()), PVM_BYTE), "send");
  }
  void recv(int peer, Bytes data) {
    auto request = irecv(peer, data);
    wait(request);
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    send(to, out);
    recv(from, in);
  }
  Request isend(int peer, ConstBytes data) {
    send(peer, data);
    return {peer, false, 0};
  }
  Request irecv(int peer, Bytes data) {
    auto& from = incoming_[static_cast<std::size_t>(peer)];
    from.posted.push(data);
    return {peer, true, from.started++};
  }
  void wait(Request& request) {
    if (request.peer >= 0 && request.receives) {
      auto& from = incoming_[static_cast<std::size_t>(request.peer)];
      while (from.arrived <= request.number) take_next(request.peer);
    }
    request = {};
  }
  /// Polls each in turn, so that no sender is always served last.
  std::size_t wait_any(std::span<Request> requests) {
    const auto count = requests.size();
    for (unsigned looked = 0;; ++looked) {
      bool any = false;
      for (std::size_t i = 0; i < count; ++i) {
        const auto place = (looked_at_ + i) % count;
        any = any || requests[place].peer >= 0;
        if (!is_done(requests[place])) continue;
        looked_at_ = place + 1;
        wait(requests[place]);
        return place;
      }
      if (!any) return count;
      if (looked % 256 == 255) watch_.check();
    }
  }

  /// Checks that messages of this size can be named in a call of PVM.
  static void check_size(std::size_t size_bytes) {
    if (size_bytes > 0x7fffffff)
      throw InputError("messages above 2147483647 bytes do not fit a call of PVM");
  }

  [[nodiscard]] std::string library() const { return "PVM " + std::string(pvm_version()); }

 private:
  static constexpr int tag = 1;

  /// Receives posted for one rank that have not completed.
  struct Incoming {
    RingQueue<Bytes> posted;
    std::uint64_t started = 0, arrived = 0;
  };

  /// Rank 0 starts the daemon, and all become its tasks.
  void enrol() {
    std::string folder, failure;
    if (rank() == 0) try {
        daemon_.start();
        folder = daemon_.folder();
      } catch (const std::runtime_error& error) {
        failure = error.what();
      }
    share(*this, failure);
    if (!failure.empty()) throw std::runtime_error(failure);
    share(*this, folder);
    pvm::set_environment(folder);
    check(pvm_mytid(), "enrol with its daemon");
  }

  /// Makes all connections, which would else be part of the first message.
  void meet() {
    std::byte nothing{};
    for (int step = 1; step < size(); ++step)
      exchange((rank() + step) % size(), {&nothing, 1}, (rank() + size() - step) % size(),
               {&nothing, 1});
  }

  [[nodiscard]] int tid(int peer) const { return peers_[static_cast<std::size_t>(peer)]; }

  static void check(int status, const std::string& doing) {
    if (status < 0)
      throw std::runtime_error("PVM cannot " + doing + ": error " + std::to_string(status));
  }

  bool is_done(const Request& request) {
    if (request.peer < 0) return false;
    const auto& from = incoming_[static_cast<std::size_t>(request.peer)];
    return !request.receives || request.number < from.arrived ||
           pvm_probe(tid(request.peer), tag) > 0;
  }

  /// Receives the next message of a rank. Throws PeerEnded where one has gone.
  void take_next(int peer) {
    auto& from = incoming_[static_cast<std::size_t>(peer)];
    const auto data = from.posted.front();
    int message = 0;
    while (message == 0) {
      timeval second{1, 0};
      message = pvm_trecv(tid(peer), tag, &second);
      if (message == 0) watch_.check();
    }
    check(message, "receive");
    if (!data.empty()) {
      auto* bytes = reinterpret_cast<char*>(data.data());
      check(pvm_upkbyte(bytes, static_cast<int>(data.size()), 1), "unpack a message");
    }
    from.posted.pop();
    ++from.arrived;
  }

  pvm::Daemon daemon_;
  std::vector<int> peers_;
  std::vector<Incoming> incoming_;
  PeerWatch watch_;
  std::size_t looked_at_ = 0;
};

}  // namespace nhalf

NHALF_TRANSPORT(nhalf::PvmTransport);

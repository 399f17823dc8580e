// nhalf-needs: MPI
// nhalf-links: -lpvm3
// nhalf-package: pvm-dev
// Messages of the Parallel Virtual Machine (PVM), whose daemon runs for as long as the ranks do.
#pragma once

#include <pvm3.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/bases/peer_watch.hpp"
#include "transports/bases/polled_requests.hpp"

namespace nhalf::pvm {
// The daemon of PVM that serves one run: private to it, and gone with it.

/// Sets the environment that libpvm and its daemon read.
inline void set_environment(const std::string& folder) {
  setenv("PVM_TMP", folder.c_str(), 1);
  setenv("PVM_ROOT", "/usr/lib/pvm3", 0);
  // It refuses the superuser otherwise.
  setenv("PVM_ALLOW_ROOT", "1", 0);
}

/// A virtual machine of this host alone. Its daemon ends with the process that started it, however
/// that one ends.
class Daemon {
 public:
  Daemon() = default;
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() { halt(); }

  /// Throws std::runtime_error where it does not come up. Its files lie in `folder()`.
  void start() {
    auto name = (std::filesystem::temp_directory_path() / "nhalf-pvm-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("PVM cannot have a folder " + name);
    folder_ = name;
    set_environment(folder_);
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for PVM's daemon");
    process_ = fork();
    if (process_ == 0) become_daemon(pipe[1]);
    close(pipe[1]);
    const bool is_ready = process_ > 0 && says_something(pipe[0]);
    close(pipe[0]);
    if (!is_ready)
      throw std::runtime_error("PVM's daemon did not start: is " + program() + " there?");
  }

  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// Removes its files, which only those who enrol need: nothing is left if this process is killed.
  void remove_files() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    folder_.clear();
  }

  /// Asks it to end, which leaves no file of it behind.
  void halt() {
    if (process_ > 0) {
      kill(process_, SIGTERM);
      for (int tenths = 0; tenths < 30 && waitpid(process_, nullptr, WNOHANG) == 0; ++tenths)
        usleep(100000);
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, WNOHANG);
    }
    process_ = -1;
    remove_files();
  }

 private:
  static std::string program() { return std::string(getenv("PVM_ROOT")) + "/lib/pvmd"; }

  [[noreturn]] static void become_daemon(int output) {
    const auto path = program();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
    execl(path.c_str(), "pvmd", "-n127.0.0.1", nullptr);
    _exit(127);
  }

  /// The daemon writes where it can be reached once it can be.
  static bool says_something(int file) {
    pollfd watched{file, POLLIN, 0};
    char text[64];
    return poll(&watched, 1, 20000) > 0 && read(file, text, sizeof text) > 0;
  }

  pid_t process_ = -1;
  std::string folder_;
};
}  // namespace nhalf::pvm

namespace nhalf {
/// PVM on one host. A send is over when PVM has taken the data, which it packs nowhere else
/// (pvm_psend); a receive sleeps in PVM as its programs do.
class PvmTransport : public MpiControl,
                     public StartedByMpi<PvmTransport>,
                     public MessageCollectives<PvmTransport> {
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
    connect_all(*this);
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
  std::size_t wait_any(std::span<Request> requests) {
    const auto until = [this](auto holds) {
      for (unsigned looked = 0; !holds(); ++looked)
        if (looked % 256 == 255) watch_.check();
    };
    const auto completed = in_turn_.first_done(
        requests, until, [](const Request& request) { return request.peer >= 0; },
        [this](const Request& request) { return is_done(request); });
    if (completed < requests.size()) wait(requests[completed]);
    return completed;
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
  PolledRequests in_turn_;
};
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::PvmTransport);

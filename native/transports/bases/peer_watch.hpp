// Watches the processes of other ranks, so that no wait for an ended process goes on forever; and
// waits for memory that another process will write.
#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "host/cores.hpp"
#include "host/kernel_files.hpp"

namespace nhalf {
/// The process of another rank has ended before its time.
struct PeerEnded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An open file by which the kernel tells when a process ends, whatever number it had; -1 where
/// there is none. Since Linux 5.3.
inline int open_process([[maybe_unused]] pid_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#else
  return -1;
#endif
}

/// The processes of all ranks of this host, which this rank can watch.
class PeerWatch {
 public:
  PeerWatch() = default;
  PeerWatch(PeerWatch&& other) noexcept { swap(other); }
  PeerWatch& operator=(PeerWatch&& other) noexcept {
    swap(other);
    return *this;
  }
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  ~PeerWatch() {
    for (const auto& file : files_) close(file.fd);
  }

  /// Collects the processes; collective over `control`.
  template <class Control>
  static PeerWatch of(Control& control) {
    const Process mine{getpid(), host_of_processes()};
    PeerWatch watch;
    const auto everybody = control.everybodys(mine);
    for (std::size_t rank = 0; rank < everybody.size(); ++rank)
      if (everybody[rank].host == mine.host && everybody[rank].number != mine.number)
        watch.add(static_cast<int>(rank), everybody[rank].number);
    return watch;
  }

  /// Looks after a process that is known to be there.
  void add(int rank, pid_t process) {
    const int file = open_process(process);
    if (file < 0) return;
    files_.push_back({file, POLLIN, 0});
    watched_.emplace_back(rank, process);
  }

  /// Throws PeerEnded where one has gone. May be called often: it asks the kernel ten times a
  /// second.
  void check() {
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + interval;
    if (poll(files_.data(), files_.size(), 0) <= 0) return;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if ((files_[i].revents & POLLIN) != 0) throw PeerEnded(ended(watched_[i]));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{100};

  void swap(PeerWatch& other) noexcept {
    std::swap(files_, other.files_);
    std::swap(watched_, other.watched_);
    std::swap(next_, other.next_);
  }

  /// A process, and an identifier of its host.
  struct Process {
    pid_t number = 0;
    std::size_t host = 0;
  };

  /// Numbers of processes mean the same where the kernel and their name space are the same.
  static std::size_t host_of_processes() {
    char space[64] = "";
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) space[0] = '\0';
    return std::hash<std::string>()(boot_id() + space);
  }

  static std::string ended(const std::pair<int, pid_t>& watched) {
    return "rank " + std::to_string(watched.first) + " (process " + std::to_string(watched.second) +
           ") has ended before the others";
  }

  std::vector<pollfd> files_;
  std::vector<std::pair<int, pid_t>> watched_;
  Clock::time_point next_{};
};

/// Polls without yielding at first, then yields the core between two polls, since ranks may
/// outnumber cores; and then checks from time to time whether all processes still exist.
class Patience {
 public:
  Patience() = default;
  /// `oversubscribed`: ranks outnumber cores, so that the awaited rank may need this very core.
  Patience(PeerWatch watch, bool oversubscribed)
      : watch_(std::move(watch)), polls_(oversubscribed ? polls_oversubscribed : polls_alone) {}

  /// Returns when `holds()`. Throws PeerEnded where a rank has gone.
  template <class Holds>
  void until(Holds holds) const {
    for (int i = 0; i < polls_; ++i) {
      if (holds()) return;
      pause_between_polls();
    }
    for (unsigned i = 1; !holds(); ++i) {
      sched_yield();
      if (i % yields_per_check == 0) watch_.check();
    }
  }

 private:
  /// Number of polls in some milliseconds.
  static constexpr int polls_alone = 50'000;
  static constexpr int polls_oversubscribed = 10;
  static constexpr unsigned yields_per_check = 256;

  /// A poll takes the line away from a rank that is about to write it.
  static void pause_between_polls() {
    pause_briefly();
    pause_briefly();
    pause_briefly();
  }

  mutable PeerWatch watch_;
  int polls_ = polls_alone;
};
}  // namespace nhalf

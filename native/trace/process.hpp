// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The process that is traced: from MPI_Init to its end, a recorder for each thread that calls MPI.
#pragma once

#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "preloaded/lasting.hpp"
#include "preloaded/mpi.hpp"
#include "trace/communicators.hpp"
#include "trace/lock.hpp"
#include "trace/notes.hpp"
#include "trace/recorder.hpp"

namespace nhalf::trace {

class Process {
 public:
  static Process& get() { return preloaded::lasting<Process>(); }

  [[nodiscard]] bool is_traced() const { return is_traced_; }

  /// Before the library's own MPI_Init: until after it the clock's speed is looked at.
  void prepare() {
    choose_clock();
    beginning_.first = Reading::now_on_all();
  }

  /// After the library's own MPI_Init.
  void begin(int thread_level) {
    if (is_traced_ || std::getenv("NHALF_TRACE_FOLDER") == nullptr) return;
    is_world_model_ = true;
    Communicators::of_process().world_is(MPI_COMM_WORLD);
    begin_in_world(thread_level);
  }

  /// After the library made a communicator from a group: of a program without MPI_Init it is the
  /// world, of which all its ranks are told.
  void begin_session(MPI_Comm comm) {
    auto& all = Communicators::of_process();
    if (std::getenv("NHALF_TRACE_FOLDER") == nullptr || comm == MPI_COMM_NULL) return;
    if (is_traced_ && (all.has_session() || is_world_model_)) return;
    all.session_begins(comm);
    if (!is_traced_) begin_in_world(MPI_THREAD_MULTIPLE);
  }

  /// Before the library ends a session.
  void end_session() {
    Communicators::of_process().session_ends();
    finish();
  }

  /// The recorder for a thread that is new; null where there cannot be one.
  Recorder* recorder() {
    const std::lock_guard guard(threads_);
    if (!free_.empty()) {
      Recorder* const one = free_.back();
      free_.pop_back();
      return one;
    }
    int error = 0;
    auto made = Recorder::made(stem_, static_cast<std::uint32_t>(all_.size()), with_timeline_,
                               beginning_, error);
    if (made == nullptr) {
      if (error == ENOMEM)
        Notes::of_process().lost(Unkept::threads);
      else if (!has_failed_)
        failed(error);
      return nullptr;
    }
    all_.push_back(std::move(made));
    return all_.back().get();
  }

  /// A thread has ended: the next new one goes on with its recorder.
  void give_back(Recorder* one) {
    const std::lock_guard guard(threads_);
    free_.push_back(one);
  }

  /// A copy of the process, which the original's files do not belong to.
  void forked() { is_traced_ = false; }

  void finish() {
    if (!is_traced_) return;
    const std::lock_guard guard(threads_);
    for (auto& one : all_) one->finish();
    Notes::of_process().line("{\"finished\":true}");
  }

 private:
  void begin_in_world(int thread_level) {
    threads_may_collide = thread_level >= MPI_THREAD_MULTIPLE;
    const char* detail = std::getenv("NHALF_TRACE_DETAIL");
    with_timeline_ = detail != nullptr && std::strcmp(detail, "timeline") == 0;
    look_at_clock();
    std::array<char, 256> host{"unknown"};
    gethostname(host.data(), host.size() - 1);
    stem_ = std::string(std::getenv("NHALF_TRACE_FOLDER")) + "/" + host.data() + "-" +
            std::to_string(getpid());
    if (!Notes::of_process().open_at(stem_ + ".json")) return failed(errno);
    introduce(host.data());
    is_traced_ = true;
    if (const auto others = preloaded::other_libraries(); !others.empty())
      Notes::of_process().line("{\"others\":" + json::quote(others) + "}");
    Communicators::of_process().made(world());
  }

  void look_at_clock() {
    const auto second = Reading::now_on_all();
    const char* begin = std::getenv("NHALF_TRACE_BEGIN_NS");
    const auto command_ns = begin == nullptr ? 0 : std::strtoull(begin, nullptr, 10);
    const auto elapsed_ns = second.steady_ns - beginning_.first.steady_ns;
    const auto& [at, wall_ns] = second.moment;
    const double per_ns = static_cast<double>(at - beginning_.first.moment.at) /
                          static_cast<double>(elapsed_ns == 0 ? 1 : elapsed_ns);
    const auto since_ns = wall_ns > command_ns ? wall_ns - command_ns : 0;
    const auto since = static_cast<Ticks>(static_cast<double>(since_ns) * per_ns);
    const bool is_known = command_ns > 0 && since < at;
    beginning_.command = is_known ? at - since : beginning_.first.moment.at;
    // About a millisecond.
    const auto millisecond = static_cast<Ticks>(per_ns * 1e6) | 1U;
    beginning_.short_call = millisecond / 500;
    beginning_.spans_shift = static_cast<std::uint32_t>(std::bit_width(millisecond));
  }

  static void introduce(const char* host) {
    int rank = 0;
    int size = 0;
    // A command may start several programs of MPI, and each has ranks from 0 on.
    std::uint64_t same = clock_ns(CLOCK_REALTIME) ^ (static_cast<std::uint64_t>(getpid()) << 40U);
    NHALF_OWN(Bcast)(&same, sizeof same, MPI_BYTE, 0, world());
    NHALF_OWN(Comm_rank)(world(), &rank);
    NHALF_OWN(Comm_size)(world(), &size);
    std::string text =
        "{\"version\":" + std::to_string(format_version) + ",\"rank\":" + std::to_string(rank) +
        ",\"size\":" + std::to_string(size) + ",\"world\":" + std::to_string(same >> 1U) +
        ",\"host\":" + json::quote(host) + ",\"pid\":" + std::to_string(getpid()) +
        ",\"library\":" + json::quote(std::string(preloaded::library_version().substr(0, 200))) +
        ",\"calls\":[";
    for (std::size_t call = 0; call < call_names.size(); ++call) {
      if (call > 0) text += ",";
      text += json::quote(call_names[call]);
    }
    Notes::of_process().line(text + "]}");
  }

  void failed(int error) {
    has_failed_ = true;
    std::fprintf(stderr, "nhalf: this process is not traced: %s: %s\n", stem_.c_str(),
                 std::strerror(error));
  }

  bool is_traced_ = false;
  bool is_world_model_ = false;
  bool with_timeline_ = false;
  bool has_failed_ = false;
  std::string stem_;
  Beginning beginning_;
  Mutex threads_;
  std::vector<std::unique_ptr<Recorder>> all_;
  std::vector<Recorder*> free_;
};

}  // namespace nhalf::trace

// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The traced process, from MPI_Init to its end, with a recorder for each thread that calls MPI.
#pragma once

#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/cores.hpp"
#include "preloaded/lasting.hpp"
#include "preloaded/mpi.hpp"
#include "preloaded/virtual_time.hpp"
#include "trace/communicators.hpp"
#include "trace/lock.hpp"
#include "trace/metadata.hpp"
#include "trace/recorder.hpp"

namespace nhalf::trace {

class Process {
 public:
  static Process& get() { return preloaded::lasting<Process>(); }

  [[nodiscard]] bool is_traced() const { return is_traced_; }

  /// Takes the first reading of the clocks, before the library's own MPI_Init.
  void prepare() {
    choose_clock();
    beginning_.first = Reading::now_on_all();
  }

  /// Begins to trace, after the library's own MPI_Init.
  void begin(int thread_level) {
    if (is_traced_ || std::getenv("NHALF_TRACE_FOLDER") == nullptr) return;
    is_world_model_ = true;
    Communicators::of_process().world_is(MPI_COMM_WORLD);
    begin_in_world(thread_level);
  }

  /// Begins to trace a program without MPI_Init, whose first communicator from a group serves as
  /// its world.
  void begin_session(MPI_Comm comm) {
    auto& communicators = Communicators::of_process();
    if (std::getenv("NHALF_TRACE_FOLDER") == nullptr || comm == MPI_COMM_NULL) return;
    if (is_traced_ && (communicators.has_session() || is_world_model_)) return;
    communicators.session_begins(comm);
    if (!is_traced_) begin_in_world(MPI_THREAD_MULTIPLE);
  }

  /// Finishes the trace, before the library ends a session.
  void end_session() {
    Communicators::of_process().session_ends();
    finish();
  }

  /// Returns a recorder for a new thread; null if none can be made.
  Recorder* recorder() {
    const std::lock_guard guard(threads_);
    if (!free_.empty()) {
      Recorder* const reused = free_.back();
      free_.pop_back();
      reused->taken_over();
      return reused;
    }
    int error = 0;
    auto added = Recorder::made(stem_, static_cast<std::uint32_t>(all_.size()), with_timeline_,
                                beginning_, error);
    if (added == nullptr) {
      if (error == ENOMEM)
        Metadata::of_process().lost(Dropped::threads);
      else if (!has_failed_)
        failed(error);
      return nullptr;
    }
    all_.push_back(std::move(added));
    return all_.back().get();
  }

  /// Takes back the recorder of an ended thread, for the next new one.
  void give_back(Recorder* recorder) {
    const std::lock_guard guard(threads_);
    free_.push_back(recorder);
  }

  /// Stops tracing in the child of a fork, which does not own the files.
  void forked() { is_traced_ = false; }

  void finish() {
    if (!is_traced_) return;
    const std::lock_guard guard(threads_);
    for (auto& recorder : all_) recorder->finish();
    Metadata::of_process().line("{\"finished\":true}");
  }

 private:
  void begin_in_world(int thread_level) {
    threads_may_collide = thread_level >= MPI_THREAD_MULTIPLE;
    const char* detail = std::getenv("NHALF_TRACE_DETAIL");
    with_timeline_ = detail != nullptr && std::strcmp(detail, "timeline") == 0;
    calibrate_clock();
    std::array<char, 256> host{"unknown"};
    gethostname(host.data(), host.size() - 1);
    stem_ = std::string(std::getenv("NHALF_TRACE_FOLDER")) + "/" + host.data() + "-" +
            std::to_string(getpid());
    if (!Metadata::of_process().open_at(stem_ + ".json")) return failed(errno);
    introduce(host.data());
    beginning_.looks = LookCosts::measured();
    is_traced_ = true;
    if (const auto others = preloaded::other_libraries(); !others.empty())
      Metadata::of_process().line("{\"others\":" + json::quote(others) + "}");
    Communicators::of_process().made(world());
    begin_injection();
  }

  void begin_injection() const {
    int rank = 0;
    int ranks = 1;
    NHALF_OWN(Comm_rank)(world(), &rank);
    NHALF_OWN(Comm_size)(world(), &ranks);
    Injection::of_process().begin(rank, ranks, ticks_per_s_);
  }

  void calibrate_clock() {
    if (virtual_time != nullptr) {
      // The command begins when virtual time does; about a microsecond.
      beginning_.spans_shift = 20;
      beginning_.clock_is_free = true;
      ticks_per_s_ = 1e12;
      return;
    }
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
    ticks_per_s_ = 1e9 * per_ns;
    // About a millisecond.
    const auto millisecond = static_cast<Ticks>(per_ns * 1e6) | 1U;
    beginning_.short_call = millisecond / 500;
    beginning_.spans_shift = static_cast<std::uint32_t>(std::bit_width(millisecond));
  }

  /// Returns a number of the program: a command may start several, each with ranks from 0.
  static std::uint64_t world_number() {
    // In virtual time a message would take time.
    if (virtual_time != nullptr)
      return std::hash<std::string_view>{}(std::getenv(preloaded::virtual_variable));
    std::uint64_t number = clock_ns(CLOCK_REALTIME) ^ (static_cast<std::uint64_t>(getpid()) << 40U);
    NHALF_OWN(Bcast)(&number, sizeof number, MPI_BYTE, 0, world());
    return number;
  }

  /// Returns what the network that is not there says of itself, as JSON.
  static std::string virtual_machine() {
    const char* about = virtual_time == nullptr ? nullptr : std::getenv("NHALF_FABRIC_ABOUT");
    return about == nullptr ? "" : std::string(",\"virtual\":") + about;
  }

  /// Returns the processors that this rank may run on, as JSON.
  static std::string processors() {
    std::string text = ",\"processors\":[";
    for (const char* before = ""; const int processor : allowed_cpus()) {
      text += before;
      text += std::to_string(processor);
      before = ",";
    }
    return text + "]";
  }

  static void introduce(const char* host) {
    int rank = 0;
    int size = 0;
    const auto number = world_number();
    NHALF_OWN(Comm_rank)(world(), &rank);
    NHALF_OWN(Comm_size)(world(), &size);
    std::string text =
        "{\"version\":" + std::to_string(format_version) + ",\"rank\":" + std::to_string(rank) +
        ",\"size\":" + std::to_string(size) + ",\"world\":" + std::to_string(number >> 1U) +
        ",\"host\":" + json::quote(host) + ",\"pid\":" + std::to_string(getpid()) +
        ",\"library\":" + json::quote(std::string(preloaded::library_version().substr(0, 200))) +
        virtual_machine() + processors() + ",\"calls\":[";
    for (std::size_t call = 0; call < call_names.size(); ++call) {
      if (call > 0) text += ",";
      text += json::quote(call_names[call]);
    }
    Metadata::of_process().line(text + "]}");
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
  double ticks_per_s_ = 1e9;
  Mutex threads_;
  std::vector<std::unique_ptr<Recorder>> all_;
  std::vector<Recorder*> free_;
};

}  // namespace nhalf::trace

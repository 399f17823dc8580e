// nhalf-needs: MPI
// The traced process, from MPI_Init to its end, with a recorder for each thread that calls MPI.
#pragma once

#include "trace/identity.hpp"
#include "trace/library_report.hpp"
#include "trace/recorder.hpp"

namespace nhalf::trace {
class Process {
 public:
  static Process& get() { return preloaded::lasting<Process>(); }

  [[nodiscard]] bool is_traced() const { return is_traced_; }

  /// Takes the first reading of the clocks and makes the first file, before the library's own
  /// MPI_Init: whoever ends in there leaves a file without a rank.
  void prepare() {
    if (is_traced_) return;
    choose_clock();
    beginning_.first = Reading::now_on_all();
    identity_.begin();
    if (const char* folder = std::getenv("NHALF_TRACE_FOLDER");
        folder != nullptr && identity_.stem().empty())
      open_error_ = identity_.open_in(folder);
  }

  /// Begins to trace, after the library's own MPI_Init.
  void begin(int thread_level) {
    Communicators::of_process().has_world_model();
    has_world_ = true;
    if (is_traced_ || identity_.stem().empty()) return;
    int rank = 0;
    int size = 1;
    NHALF_OWN(Comm_rank)(MPI_COMM_WORLD, &rank);
    NHALF_OWN(Comm_size)(MPI_COMM_WORLD, &size);
    if (!begin_as(rank, size, thread_level)) return;
    Communicators::of_process().made(MPI_COMM_WORLD);
    begin_injection(rank, size);
  }

#if NHALF_HAS_MPI_4
  /// Begins to trace a program without MPI_Init, at its first communicator from a group. Ranks are
  /// those of all processes of the sessions, as they would be with MPI_Init.
  void begin_session(MPI_Comm comm) {
    if (is_traced_ || identity_.stem().empty() || comm == MPI_COMM_NULL) return;
    auto& communicators = Communicators::of_process();
    int rank = 0;
    int size = 1;
    communicators.place_in_sessions(comm, rank, size);
    if (!begin_as(rank, size, MPI_THREAD_MULTIPLE)) return;
    communicators.made_of_sessions(rank, size);
    begin_injection(rank, size);
  }
#endif

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
    auto added = Recorder::made(identity_.stem(), static_cast<std::uint32_t>(all_.size()),
                                with_timeline_, beginning_, error);
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
    {
      const std::lock_guard guard(threads_);
      for (auto& recorder : all_) recorder->finish();
      Metadata::of_process().finished();
    }
    // One rank suffices: Open MPI 4 opens all of its components to answer.
    if (rank_ == 0) report_library(has_world_ ? MPI_COMM_WORLD : MPI_COMM_NULL);
  }

 private:
  /// Begins to trace a rank; false if that cannot be.
  bool begin_as(int rank, int size, int thread_level) {
    threads_may_collide = thread_level >= MPI_THREAD_MULTIPLE;
    const char* detail = std::getenv("NHALF_TRACE_DETAIL");
    with_timeline_ = detail != nullptr && std::strcmp(detail, "timeline") == 0;
    calibrate_clock();
    if (open_error_ == 0 && !identity_.introduce(rank, size, calls::call_names))
      open_error_ = Metadata::of_process().error();
    if (open_error_ != 0) {
      if (!has_failed_) failed(open_error_);
      return false;
    }
    beginning_.looks = LookCosts::measured();
    is_traced_ = true;
    rank_ = rank;
    if (const auto others = preloaded::other_libraries(); !others.empty())
      Metadata::of_process().line("{\"others\":" + json::quote(others) + "}");
    // The program may be about to lose the right to make files.
    if (Recorder* const first = recorder(); first != nullptr) give_back(first);
    return true;
  }

  void begin_injection(int rank, int size) const {
    Injection::of_process().begin(rank, size, ticks_per_s_);
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

  void failed(int error) {
    has_failed_ = true;
    if (!is_traced_) identity_.remove();
    identity_.complain("traced", error);
  }

  bool is_traced_ = false;
  int rank_ = 0;
  bool has_world_ = false;
  bool with_timeline_ = false;
  bool has_failed_ = false;
  Identity identity_;
  int open_error_ = 0;
  Beginning beginning_;
  double ticks_per_s_ = 1e9;
  Mutex threads_;
  std::vector<std::unique_ptr<Recorder>> all_;
  std::vector<Recorder*> free_;
};

/// The recorder of this thread, which is taken while a call is counted: calls that a library makes
/// within a call are not the program's. A call that is left by an exception gives it back; one that
/// is left by longjmp does not, which the next call finds out.
class Here {
 public:
  /// Takes the recorder for a call of the program.
  [[gnu::always_inline]] explicit Here(Caller caller) : recorder_(state_) {
    if (reinterpret_cast<std::uintptr_t>(recorder_) <= taken) [[unlikely]] {
      recorder_ = first(recorder_, caller, suspended_);
      if (recorder_ == nullptr) return;
    }
    state_ = reinterpret_cast<Recorder*>(taken);
    recorder_->outermost.begin(caller);
  }
  [[gnu::always_inline]] ~Here() {
    if (recorder_ == nullptr) return;
    state_ = recorder_;
    if (suspended_.frame != nullptr) [[unlikely]]
      resume();
  }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;

  /// The recorder; null if the call is not to be counted.
  [[gnu::always_inline]] [[nodiscard]] Recorder* recorder() const { return recorder_; }

  /// Stops counting in the child of a fork.
  static void forget() {
    state_ = reinterpret_cast<Recorder*>(taken);
    Process::get().forked();
  }

 private:
  static constexpr std::uintptr_t taken = 1;

  /// `suspended` becomes the call of another stack that has the recorder.
  [[gnu::noinline]] static Recorder* first(Recorder* state, Caller caller, Caller& suspended) {
    if (!Process::get().is_traced()) return nullptr;
    if (state != nullptr) {
      auto* const own = preloaded::OfThread<Recorder>::find();
      if (own == nullptr || own->outermost.has(caller)) return nullptr;
      suspended = own->outermost.call();
      return own;
    }
    auto* const recorder = Process::get().recorder();
    if (recorder == nullptr) {
      state_ = reinterpret_cast<Recorder*>(taken);
      return nullptr;
    }
    preloaded::OfThread<Recorder>::keep(recorder, [](Recorder* ended) {
      Process::get().give_back(ended);
      state_ = nullptr;
    });
    return recorder;
  }

  [[gnu::noinline]] void resume() const {
    recorder_->outermost.end(suspended_);
    state_ = reinterpret_cast<Recorder*>(taken);
  }

  static inline constinit thread_local Recorder* state_ = nullptr;

  Recorder* recorder_;
  Caller suspended_;
};
}  // namespace nhalf::trace

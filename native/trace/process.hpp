// nhalf-needs: MPI
// The traced process, from MPI_Init to its end, with a recorder for each thread that calls MPI.
#pragma once

#include <sys/random.h>

#include "preloaded/launch.hpp"
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
    began_ns_ = real_ns();
    if (const char* folder = std::getenv("NHALF_TRACE_FOLDER"); folder != nullptr && stem_.empty())
      open_in(folder);
  }

  /// Begins to trace, after the library's own MPI_Init.
  void begin(int thread_level) {
    Communicators::of_process().has_world_model();
    has_world_ = true;
    if (is_traced_ || stem_.empty()) return;
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
    if (is_traced_ || stem_.empty() || comm == MPI_COMM_NULL) return;
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
    {
      const std::lock_guard guard(threads_);
      for (auto& recorder : all_) recorder->finish();
      Metadata::of_process().finished();
    }
    // One rank suffices: Open MPI 4 opens all of its components to answer.
    if (rank_ == 0) report_library(has_world_ ? MPI_COMM_WORLD : MPI_COMM_NULL);
  }

 private:
  /// Makes the file of metadata. Neither host nor process may be unique, as in containers.
  void open_in(const std::string& folder) {
    constexpr int trials = 8;
    std::array<char, 256> host{"unknown"};
    gethostname(host.data(), host.size() - 1);
    host_ = host.data();
    auto name = host_;
    std::ranges::replace(name, '/', '_');
    for (int trial = 0; trial < trials; ++trial) {
      std::array<char, 9> random{};
      std::snprintf(random.data(), random.size(), "%08x", random_number());
      stem_ = folder + "/" + name + "-" + random.data() + "-" + std::to_string(getpid());
      open_error_ = Metadata::of_process().open_at(stem_ + ".json");
      if (open_error_ != EEXIST) return;
    }
  }

  static std::uint32_t random_number() {
    std::uint32_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
      number = static_cast<std::uint32_t>(real_ns() ^ reinterpret_cast<std::uintptr_t>(&number));
    return number;
  }

  /// Begins to trace a rank; false if that cannot be.
  bool begin_as(int rank, int size, int thread_level) {
    threads_may_collide = thread_level >= MPI_THREAD_MULTIPLE;
    const char* detail = std::getenv("NHALF_TRACE_DETAIL");
    with_timeline_ = detail != nullptr && std::strcmp(detail, "timeline") == 0;
    calibrate_clock();
    if (open_error_ == 0 && !introduce(rank, size)) open_error_ = Metadata::of_process().error();
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

  /// Returns what tells the ranks of this launch from those of others that the command starts, as
  /// JSON. No message may do so: other ranks may not be traced.
  std::string launch() const {
    const char* machine =
        virtual_time == nullptr ? nullptr : std::getenv(preloaded::virtual_variable);
    const auto launch = machine == nullptr ? preloaded::launch() : std::string("try ") + machine;
    return ",\"launch\":" + json::quote(launch) +
           ",\"parent\":" + json::quote(preloaded::process_and_start(getppid())) +
           ",\"began_ns\":" + std::to_string(began_ns_) +
           ",\"ready_ns\":" + std::to_string(real_ns());
  }

  /// Returns what the virtual network says of itself, as JSON.
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

  /// Writes who this process is; false if that cannot be written.
  [[nodiscard]] bool introduce(int rank, int size) const {
    std::string text =
        "{\"version\":" + std::to_string(format_version) + ",\"rank\":" + std::to_string(rank) +
        ",\"size\":" + std::to_string(size) + ",\"host\":" + json::quote(host_) +
        ",\"pid\":" + std::to_string(getpid()) +
        ",\"library\":" + json::quote(std::string(preloaded::library_version().substr(0, 200))) +
        launch() + virtual_machine() + processors() + ",\"calls\":[";
    for (std::size_t call = 0; call < calls::call_names.size(); ++call) {
      if (call > 0) text += ",";
      text += json::quote(calls::call_names[call]);
    }
    return Metadata::of_process().line(text + "]}");
  }

  void failed(int error) {
    has_failed_ = true;
    // Nobody must take this process for one that ended within MPI_Init.
    if (!is_traced_) unlink((stem_ + ".json").c_str());
    std::fprintf(stderr, "nhalf: this process is not traced: %s: %s\n", stem_.c_str(),
                 std::strerror(error));
  }

  bool is_traced_ = false;
  int rank_ = 0;
  bool has_world_ = false;
  bool with_timeline_ = false;
  bool has_failed_ = false;
  std::string host_;
  std::string stem_;
  int open_error_ = 0;
  std::uint64_t began_ns_ = 0;
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

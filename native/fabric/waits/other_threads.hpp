// The other threads of a program, and whether one of them may still end what a thread waits for.
// Those that the MPI library began are none of the program's.
#pragma once

#include <sys/stat.h>

#include <atomic>

#include "fabric/times.hpp"
#include "host/kernel_files.hpp"
#include "preloaded/lasting.hpp"

namespace nhalf::fabric {
class OtherThreads {
 public:
  static OtherThreads& here() { return preloaded::lasting<OtherThreads>(); }

  /// A call begins and ends that may be the one which starts the library.
  void note_begin() { before_ = thread_times(); }
  void note_end() {
    auto present = thread_times();
    for (const auto& [thread, time_ns] : present) {
      const auto number = number_of_library_.load(std::memory_order_relaxed);
      if (before_.contains(thread) || number == of_library_.size()) continue;
      of_library_[number] = thread;
      number_of_library_.store(number + 1, std::memory_order_release);
    }
    before_ = std::move(present);
    is_noted_ = true;
  }

  [[nodiscard]] bool are_there() const { return number_of_all() > 1 && !times().empty(); }

  /// Their processor times, without those of this thread.
  [[nodiscard]] TimesOfThreads times() const {
    auto times_ns = thread_times();
    times_ns.erase(own());
    for (const auto thread : of_library()) times_ns.erase(thread);
    return times_ns;
  }

  /// Whether nothing has happened in them since they had these times, and nothing will.
  [[nodiscard]] bool are_quiet_since(const TimesOfThreads& before) const {
    if (waits_with_limit_ > 0 || times() != before) return false;
    return std::all_of(before.begin(), before.end(),
                       [](const auto& entry) { return is_asleep(entry.first); });
  }

  /// Runs what this thread does in real time that ends by itself.
  template <class Run>
  auto until_limit(Run run) {
    // Before the library's threads are noted, a wait may be one of theirs.
    const bool is_programs = is_noted_ && !is_of_library();
    const Counted counted(is_programs ? &waits_with_limit_ : nullptr);
    return run();
  }

 private:
  class Counted {
   public:
    explicit Counted(std::atomic<int>* number) : number_(number) {
      if (number_ != nullptr) ++*number_;
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() {
      if (number_ != nullptr) --*number_;
    }

   private:
    std::atomic<int>* number_;
  };

  static pid_t own() { return static_cast<pid_t>(syscall(SYS_gettid)); }

  /// Costs one call, and no memory.
  static unsigned long number_of_all() {
    struct stat folder{};
    // A folder has a link in itself, one above, and one in each folder within it.
    return stat("/proc/self/task", &folder) == 0 ? folder.st_nlink - 2 : 1;
  }

  /// They wait themselves while they are noted.
  [[nodiscard]] std::span<const pid_t> of_library() const {
    return {of_library_.data(), number_of_library_.load(std::memory_order_acquire)};
  }
  [[nodiscard]] bool is_of_library() const {
    const auto threads = of_library();
    return std::find(threads.begin(), threads.end(), own()) != threads.end();
  }

  static bool is_asleep(pid_t thread) {
    const auto text = text_of(("/proc/self/task/" + std::to_string(thread) + "/stat").c_str());
    // The state follows the name, which may contain anything.
    const auto place = text.rfind(") ");
    return place != std::string::npos && text[place + 2] == 'S';
  }

  TimesOfThreads before_;
  std::array<pid_t, 256> of_library_{};
  std::atomic<std::size_t> number_of_library_{0};
  std::atomic<bool> is_noted_{false};
  std::atomic<int> waits_with_limit_{0};
};
}  // namespace nhalf::fabric

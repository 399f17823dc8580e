// nhalf-needs: MPI
// The recorder of this thread, which is taken while a call is counted: calls that a library makes
// within a call are not the program's. A call that is left by an exception gives it back; one that
// is left by longjmp does not, which the next call finds out.
#pragma once

#include <cstdint>
#include <type_traits>

#include "preloaded/of_thread.hpp"
#include "preloaded/outermost.hpp"
#include "trace/process.hpp"

namespace nhalf::trace {

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

// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The recorder of this thread, which is taken while a call is counted: calls that a library makes
// within a call are not the program's.
#pragma once

#include <cstdint>

#include "preloaded/of_thread.hpp"
#include "trace/process.hpp"

namespace nhalf::trace {

class Here {
 public:
  /// Takes the recorder; null if the call is not to be counted.
  [[gnu::always_inline]] static Recorder* enter(Caller caller = {}) {
    Recorder* recorder = state_;
    if (reinterpret_cast<std::uintptr_t>(recorder) <= taken) [[unlikely]] {
      recorder = first(recorder);
      if (recorder == nullptr) return nullptr;
    }
    state_ = reinterpret_cast<Recorder*>(taken);
    recorder->called_from(caller);
    return recorder;
  }

  /// Stops counting in the child of a fork.
  static void forget() {
    state_ = reinterpret_cast<Recorder*>(taken);
    Process::get().forked();
  }

  [[gnu::always_inline]] static void leave(Recorder& recorder) { state_ = &recorder; }

 private:
  static constexpr std::uintptr_t taken = 1;

  [[gnu::noinline]] static Recorder* first(Recorder* state) {
    if (state != nullptr || !Process::get().is_traced()) return nullptr;
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

  static inline constinit thread_local Recorder* state_ = nullptr;
};

}  // namespace nhalf::trace

// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The recorder of this thread, taken while one of its calls is counted: what a library calls
// inside of a call is not the program's.
#pragma once

#include <cstdint>

#include "preloaded/of_thread.hpp"
#include "trace/process.hpp"

namespace nhalf::trace {

class Here {
 public:
  /// Null where the call is not to be counted.
  [[gnu::always_inline]] static Recorder* enter() {
    Recorder* recorder = state_;
    if (reinterpret_cast<std::uintptr_t>(recorder) <= taken) [[unlikely]] {
      recorder = first(recorder);
      if (recorder == nullptr) return nullptr;
    }
    state_ = reinterpret_cast<Recorder*>(taken);
    return recorder;
  }

  /// In a copy of the process: nothing of it is counted.
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

// SPDX-License-Identifier: Apache-2.0
// Ranks of a simulated machine: cooperative contexts in one thread, always in the same order.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace nhalf {

/// Tells the address sanitizer which stack is left and which one is entered; otherwise nothing.
struct StackSwitch {
#ifdef __SANITIZE_ADDRESS__
  /// Before leaving; `saved` is null where nobody will come back.
  static void leave(void** saved, const void* bottom, std::size_t size_bytes) {
    __sanitizer_start_switch_fiber(saved, bottom, size_bytes);
  }
  /// After arriving; says where the stack that was left is.
  static void arrive(void* saved, const void** bottom, std::size_t* size_bytes) {
    __sanitizer_finish_switch_fiber(saved, bottom, size_bytes);
  }
#else
  static void leave(void**, const void*, std::size_t) {}
  static void arrive(void*, const void**, std::size_t*) {}
#endif
};

/// Runs `count` bodies that give way to each other where they must wait.
///
/// Deterministic: the order of steps depends on the bodies alone. When no body can go on, every
/// one of them gets a std::runtime_error that names a deadlock.
class Fibers {
 public:
  /// Runs body(0) to body(count - 1) to their ends; throws the first exception that left a body.
  void run(int count, const std::function<void(int)>& body) {
    body_ = &body;
    fibers_.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < fibers_.size(); ++i) prepare(i);
    for (std::size_t left = fibers_.size(); left > 0;) {
      bool moved = false;
      for (current_ = 0; current_ < fibers_.size(); ++current_) {
        auto& fiber = fibers_[current_];
        if (fiber.done || (!deadlocked_ && fiber.ready && !fiber.ready())) continue;
        moved = true;
        void* saved = nullptr;
        StackSwitch::leave(&saved, fiber.stack.get(), stack_bytes);
        swapcontext(&scheduler_, &fiber.context);
        StackSwitch::arrive(saved, nullptr, nullptr);
        if (fiber.done) --left;
      }
      deadlocked_ = !moved;
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Called from a body: lets others run until `ready` holds.
  template <class Ready>
  void wait_until(Ready ready) {
    if (ready()) return;
    auto& fiber = fibers_[current_];
    fiber.ready = ready;
    void* saved = nullptr;
    StackSwitch::leave(&saved, scheduler_stack_, scheduler_stack_bytes_);
    swapcontext(&fiber.context, &scheduler_);
    StackSwitch::arrive(saved, &scheduler_stack_, &scheduler_stack_bytes_);
    fiber.ready = nullptr;
    if (!ready()) throw std::runtime_error("deadlock: every rank waits for another");
  }

 private:
  static constexpr std::size_t stack_bytes = 256 * 1024;

  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack;
    std::function<bool()> ready;
    bool done = false;
  };

  void prepare(std::size_t index) {
    auto& fiber = fibers_[index];
    fiber.stack.reset(new std::byte[stack_bytes]);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = &scheduler_;
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  }

  /// makecontext passes integers only, so the pointer comes in two halves.
  static void enter(unsigned high, unsigned low) {
    const auto address = (static_cast<std::uintptr_t>(high) << 32) | low;
    auto& self = *reinterpret_cast<Fibers*>(address);
    StackSwitch::arrive(nullptr, &self.scheduler_stack_, &self.scheduler_stack_bytes_);
    const auto index = self.current_;
    try {
      (*self.body_)(static_cast<int>(index));
    } catch (...) {
      if (!self.failure_) self.failure_ = std::current_exception();
    }
    self.fibers_[index].done = true;
    StackSwitch::leave(nullptr, self.scheduler_stack_, self.scheduler_stack_bytes_);
  }

  std::vector<Fiber> fibers_;
  ucontext_t scheduler_{};
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_bytes_ = 0;
  std::size_t current_ = 0;
  bool deadlocked_ = false;
  std::exception_ptr failure_;
  const std::function<void(int)>* body_ = nullptr;
};

}  // namespace nhalf

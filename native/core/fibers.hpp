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

namespace nhalf {

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
        swapcontext(&scheduler_, &fiber.context);
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
    swapcontext(&fiber.context, &scheduler_);
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
    const auto index = self.current_;
    try {
      (*self.body_)(static_cast<int>(index));
    } catch (...) {
      if (!self.failure_) self.failure_ = std::current_exception();
    }
    self.fibers_[index].done = true;
  }

  std::vector<Fiber> fibers_;
  ucontext_t scheduler_{};
  std::size_t current_ = 0;
  bool deadlocked_ = false;
  std::exception_ptr failure_;
  const std::function<void(int)>* body_ = nullptr;
};

}  // namespace nhalf

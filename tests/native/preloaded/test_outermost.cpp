#include "preloaded/outermost.hpp"

#include <doctest/doctest.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <stdexcept>

namespace {

using nhalf::preloaded::Caller;
using nhalf::preloaded::OutermostCall;

/// Calls of MPI as a preloaded library wraps them.
struct Wrapped {
  OutermostCall outermost;
  Caller suspended;
  int within = 0;
  int counted = 0;

  template <class Run>
  [[gnu::noinline]] void call(Run run) {
    const Caller caller = NHALF_CALLER;
    if (outermost.has(caller)) {
      ++within;
      run();
      return;
    }
    const Caller before = outermost.call();
    outermost.begin(caller);
    run();
    ++counted;
    outermost.end(before);
  }
  /// A call that an exception leaves.
  template <class Run>
  [[gnu::noinline]] void guarded(Run run) {
    struct Guard {
      OutermostCall& outermost;
      ~Guard() { outermost.end(); }
    } const guard{outermost};
    outermost.begin(NHALF_CALLER);
    run();
  }
  [[gnu::noinline]] bool leads_here() { return outermost.leads_to(__builtin_dwarf_cfa()); }
};

Wrapped wrapped;
jmp_buf place;

[[gnu::noinline]] void jump() {
  longjmp(place, 1);
}

/// Leaves a call from a function that is deeper by so many bytes.
template <std::size_t bytes>
[[gnu::noinline]] void left_from() {
  volatile char room[bytes];
  room[0] = 1;
  wrapped.call([] { jump(); });
  room[bytes - 1] = room[0];
}

template <std::size_t bytes>
[[gnu::noinline]] void called_from() {
  volatile char room[bytes];
  room[0] = 1;
  wrapped.call([] {});
  room[bytes - 1] = room[0];
}

template <class Leave>
void leave(Leave left) {
  wrapped = {};
  if (setjmp(place) == 0) left();
}

}  // namespace

TEST_CASE("a call within a call is none of the program's, however deep") {
  wrapped = {};
  for (int time = 0; time < 3; ++time)
    wrapped.call([] {
      wrapped.call([] {});
      called_from<100'000>();
      CHECK(wrapped.leads_here());
    });
  CHECK(wrapped.counted == 3);
  CHECK(wrapped.within == 6);
  CHECK_FALSE(wrapped.leads_here());
}

TEST_CASE("after a call was left by a jump, calls from above, below and the same place count") {
  for (const auto left : {&left_from<16>, &left_from<1000>, &left_from<100'000>}) {
    leave(left);
    CHECK_FALSE(wrapped.leads_here());
    wrapped.call([] {});
    called_from<16>();
    called_from<1000>();
    called_from<200'000>();
    CHECK(wrapped.within == 0);
    CHECK(wrapped.counted == 4);
  }
}

TEST_CASE("a call from the very place where one was left counts") {
  wrapped = {};
  static int calls;
  calls = 0;
  if (setjmp(place) != 0) CHECK(calls % 3 == 0);
  while (calls < 9)
    wrapped.call([] {
      if (++calls % 3 == 0) jump();
    });
  CHECK(wrapped.counted == 6);
  CHECK(wrapped.within == 0);
}

TEST_CASE("what is called back counts as within after a call was left") {
  leave(&left_from<1000>);
  wrapped.call([] { wrapped.call([] {}); });
  CHECK(wrapped.counted == 1);
  CHECK(wrapped.within == 1);
}

TEST_CASE("a call within a call may be left too, and the outer one goes on") {
  wrapped = {};
  wrapped.call([] {
    if (setjmp(place) == 0) wrapped.call([] { jump(); });
    wrapped.call([] {});
  });
  wrapped.call([] {});
  CHECK(wrapped.within == 2);
  CHECK(wrapped.counted == 2);
}

TEST_CASE("an exception leaves a call that has a guard") {
  wrapped = {};
  CHECK_THROWS(wrapped.guarded([] { throw std::runtime_error("from a handler"); }));
  CHECK_FALSE(wrapped.outermost.lasts());
}

TEST_CASE("a call from a handler of signals on a stack of its own is within the call") {
  wrapped = {};
  static std::array<char, 65536> other_stack;
  const stack_t stack{.ss_sp = other_stack.data(), .ss_flags = 0, .ss_size = other_stack.size()};
  stack_t stack_before{};
  REQUIRE(sigaltstack(&stack, &stack_before) == 0);
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { wrapped.call([] {}); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &before);
  wrapped.call([] { raise(SIGUSR1); });
  CHECK(wrapped.within == 1);
  raise(SIGUSR1);
  CHECK(wrapped.counted == 2);
  // Such a handler may also leave the call.
  action.sa_handler = [](int) { siglongjmp(place, 1); };
  sigaction(SIGUSR1, &action, nullptr);
  if (sigsetjmp(place, 1) == 0) wrapped.call([] { raise(SIGUSR1); });
  wrapped.call([] {});
  CHECK(wrapped.within == 1);
  CHECK(wrapped.counted == 3);
  sigaction(SIGUSR1, &before, nullptr);
  sigaltstack(&stack_before, nullptr);
}

namespace {

ucontext_t outside;
ucontext_t fiber;

void in_fiber() {
  wrapped.call([] {});
  wrapped.call([] { wrapped.call([] {}); });
  swapcontext(&fiber, &outside);
}

}  // namespace

TEST_CASE("a call on another stack counts, and the suspended one goes on as it was") {
  wrapped = {};
  static std::array<char, 65536> stack;
  REQUIRE(getcontext(&fiber) == 0);
  fiber.uc_stack = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  fiber.uc_link = nullptr;
  makecontext(&fiber, &in_fiber, 0);
  wrapped.call([] {
    swapcontext(&outside, &fiber);
    wrapped.call([] {});
    CHECK(wrapped.leads_here());
  });
  CHECK(wrapped.counted == 3);
  CHECK(wrapped.within == 2);
  CHECK_FALSE(wrapped.outermost.lasts());
}

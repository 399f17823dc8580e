// Ranks of a simulated machine: cooperative contexts in one thread, always in the same order.
#pragma once

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>

#include "contract/vocabulary.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace nhalf {
/// A set of numbers below a limit, as bits; above them a bit for each word that is not empty.
class ReadySet {
 public:
  explicit ReadySet(std::size_t limit = 0)
      : words_(words_for(limit)), filled_(words_for(words_.size())) {}

  void insert(std::size_t number) {
    words_[number / bits] |= bit(number);
    filled_[number / bits / bits] |= bit(number / bits);
  }
  void erase(std::size_t number) {
    auto& word = words_[number / bits];
    word &= ~bit(number);
    if (word == 0) filled_[number / bits / bits] &= ~bit(number / bits);
  }

  /// The least number of the set from `first` on, else the least of all; `none` of an empty set.
  [[nodiscard]] std::size_t next(std::size_t first) const {
    const auto rank = at_or_after(first);
    return rank == none ? at_or_after(0) : rank;
  }

  static constexpr std::size_t none = ~std::size_t{0};

 private:
  static constexpr std::size_t bits = 64;
  using Word = std::uint64_t;

  static std::size_t words_for(std::size_t count) { return (count + bits - 1) / bits; }
  static Word bit(std::size_t number) { return Word{1} << (number % bits); }
  static Word from(std::size_t number) { return ~Word{0} << (number % bits); }
  static std::size_t lowest(Word word) { return static_cast<std::size_t>(std::countr_zero(word)); }

  /// The least member of one level from `first` on.
  static std::size_t least(const std::vector<Word>& level, std::size_t first) {
    auto place = first / bits;
    if (place >= level.size()) return none;
    Word word = level[place] & from(first);
    while (word == 0 && ++place < level.size()) word = level[place];
    return word == 0 ? none : place * bits + lowest(word);
  }

  [[nodiscard]] std::size_t at_or_after(std::size_t first) const {
    const auto place = first / bits;
    if (place >= words_.size()) return none;
    if (const Word ready = words_[place] & from(first); ready != 0)
      return place * bits + lowest(ready);
    const auto filled = least(filled_, place + 1);
    return filled == none ? none : filled * bits + lowest(words_[filled]);
  }

  std::vector<Word> words_, filled_;
};

// Stacks of many contexts in one piece of memory, of which only what is touched exists.

/// `count` stacks of somewhat less than `stack_bytes` each.
class Stacks {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  explicit Stacks(std::size_t count) : count_(count) {
    if (count == 0) return;
    memory_ = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    // A huge page holds several stacks, and would make all of each exist.
    madvise(memory_, count * stack_bytes, MADV_NOHUGEPAGE);
    if (count <= guarded_max) guard();
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    if (count_ > 0) munmap(memory_, count_ * stack_bytes);
  }

  /// The lowest byte of a stack.
  [[nodiscard]] std::byte* bottom(std::size_t number) const {
    return static_cast<std::byte*>(memory_) + number * stack_bytes;
  }
  /// Returns the size of a stack. The ends of stacks, where the lines in use are, have different
  /// page offsets, since a cache set holds few lines of equal offset.
  static std::size_t size_of(std::size_t number) {
    return stack_bytes - number % lines_per_page * line_bytes;
  }

 private:
  /// A page without access is a mapping of its own, of which a process has 65,530 on Linux.
  static constexpr std::size_t guarded_max = 8192;
  static constexpr std::size_t line_bytes = 64, lines_per_page = 64;

  /// Guards stacks against overflow if ranks are few; many ranks do not need it.
  void guard() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t number = 0; number < count_; ++number)
      mprotect(bottom(number), page, PROT_NONE);
  }

  std::size_t count_;
  void* memory_ = nullptr;
};

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

/// The C library's own, which its checked variant is not: that one refuses to go to a stack that
/// lies below.
[[noreturn]] void jump_to(jmp_buf place, int value) noexcept __asm__("_longjmp");

/// Runs `count` bodies that give way to each other where they must wait.
///
/// Bodies go on in the order of their numbers, round and round, each when it has been woken; so the
/// order of steps depends on the bodies alone, and who waits costs nothing. When no body can go on,
/// every one of them gets a std::runtime_error that names a deadlock.
class Fibers {
 public:
  /// Runs body(0) to body(count - 1) to their ends; throws the first exception that left a body.
  void run(int count, const std::function<void(int)>& body) {
    const auto fibers = static_cast<std::size_t>(count);
    const Stacks stacks(fibers);
    stacks_ = &stacks;
    body_ = &body;
    fibers_.assign(fibers, {});
    ready_ = ReadySet(fibers);
    wake_all();
    left_ = fibers;
    current_ = fibers;
    if (left_ > 0) leave(scheduler_);
    fibers_.clear();
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Called from a body: lets others run until `ready` holds. The body that makes it true wakes
  /// this one.
  template <class Ready>
  void wait_until(Ready ready) {
    while (!ready()) {
      leave(fibers_[current_]);
      if (deadlocked_ && !ready())
        throw std::runtime_error("deadlock: every rank waits for another");
    }
  }

  /// Returns the number of the running body.
  [[nodiscard]] int current() const { return static_cast<int>(current_); }

  /// Wakes a body so that it checks its condition again; does nothing if it has ended.
  void wake(int index) {
    const auto i = static_cast<std::size_t>(index);
    if (!fibers_[i].done) ready_.insert(i);
  }
  void wake_all() {
    for (std::size_t i = 0; i < fibers_.size(); ++i) wake(static_cast<int>(i));
  }

  /// Whether another body than the running one can go on.
  [[nodiscard]] bool is_any_ready() const { return ready_.next(0) != ReadySet::none; }

  /// Bodies that wait for one thing, as Control needs them.
  struct Waiting {
    using Place = std::vector<int>;

    template <class Ready>
    void until(Place& place, Ready ready) {
      if (ready()) return;
      place.push_back(fibers.current());
      fibers.wait_until(ready);
    }
    void wake(Place& place) {
      for (const int index : place) fibers.wake(index);
      place.clear();
    }

    Fibers& fibers;
  };

  /// Returns how often a body was entered or resumed.
  [[nodiscard]] std::uint64_t turns() const { return turns_; }

 private:
  struct Fiber {
    jmp_buf place{};
    bool begun = false;
    bool done = false;
  };

  /// Lets the next body run; returns when `fiber` is the next.
  void leave(Fiber& fiber) {
    void* saved = nullptr;
    auto& next = choose();
    if (&next == &fiber) return;
    StackSwitch::leave(&saved, bottom_of(next), size_of(next));
    if (_setjmp(fiber.place) == 0) enter(next);
    arrive(saved);
  }

  /// Returns the next woken body, or the scheduler if there is none.
  Fiber& choose() {
    if (left_ == 0) return scheduler_;
    auto next = ready_.next(current_ + 1);
    if (next == ReadySet::none) {
      deadlocked_ = true;
      wake_all();
      next = ready_.next(0);
    }
    ready_.erase(next);
    current_ = next;
    ++turns_;
    return fibers_[next];
  }

  /// Goes to where a body was left, or begins it on its stack.
  [[noreturn]] void enter(Fiber& fiber) {
    if (fiber.begun || &fiber == &scheduler_) jump_to(fiber.place, 1);
    fiber.begun = true;
    getcontext(&first_);
    first_.uc_stack.ss_sp = stacks_->bottom(current_);
    first_.uc_stack.ss_size = Stacks::size_of(current_);
    first_.uc_link = nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&first_, reinterpret_cast<void (*)()>(&begin), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
    setcontext(&first_);
    std::terminate();
  }

  /// makecontext passes integers only, so the pointer comes in two halves.
  static void begin(unsigned high, unsigned low) {
    const auto address = (static_cast<std::uintptr_t>(high) << 32) | low;
    reinterpret_cast<Fibers*>(address)->live();
  }

  /// A body, from its begin to its end.
  void live() {
    arrive(nullptr);
    const auto index = current_;
    try {
      (*body_)(static_cast<int>(index));
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    fibers_[index].done = true;
    ready_.erase(index);
    --left_;
    auto& next = choose();
    StackSwitch::leave(nullptr, bottom_of(next), size_of(next));
    enter(next);
  }

  void arrive(void* saved) {
    const void* bottom = nullptr;
    std::size_t size_bytes = 0;
    StackSwitch::arrive(saved, &bottom, &size_bytes);
    if (scheduler_bytes_ > 0) return;
    scheduler_bottom_ = bottom;
    scheduler_bytes_ = size_bytes;
  }
  [[nodiscard]] const void* bottom_of(const Fiber& fiber) const {
    return &fiber == &scheduler_ ? scheduler_bottom_ : stacks_->bottom(current_);
  }
  [[nodiscard]] std::size_t size_of(const Fiber& fiber) const {
    return &fiber == &scheduler_ ? scheduler_bytes_ : Stacks::size_of(current_);
  }

  const Stacks* stacks_ = nullptr;
  const std::function<void(int)>* body_ = nullptr;
  std::vector<Fiber> fibers_;
  ReadySet ready_;
  Fiber scheduler_;
  /// The context in which a body begins; later switches use the C library's jumps, which keep
  /// signal masks.
  ucontext_t first_{};
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
  std::size_t current_ = 0, left_ = 0;
  std::uint64_t turns_ = 0;
  bool deadlocked_ = false;
  std::exception_ptr failure_;
};
}  // namespace nhalf

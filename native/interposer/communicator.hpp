// nhalf-needs: MPI
// State of a communicator: the ways of its operations, its shared memory, its messages.
#pragma once

#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <tuple>

#include "host/segment.hpp"
#include "host/virtual_clock.hpp"
#include "interposer/choices.hpp"
#include "interposer/hierarchy.hpp"
#include "interposer/lessons.hpp"
#include "interposer/limits.hpp"
#include "interposer/roll_call.hpp"
#include "interposer/single_copy.hpp"
#include "timing/clock.hpp"

namespace nhalf::coll {

/// Shared memory of the ranks of a communicator.
class CommonMemory {
 public:
  /// Collective, among ranks of one host. Throws Failed.
  CommonMemory(MPI_Comm comm, int rank, int ranks) {
    const auto all_bytes = SharedMemory::size_bytes(ranks);
    Segment::Address address;
    if (rank == 0) {
      segment_ = Segment::create(all_bytes);
      address = segment_.address();
    }
    succeed(PMPI_Bcast(&address, sizeof address, MPI_BYTE, 0, comm));
    if (rank != 0) segment_ = Segment::open(address, all_bytes);
    int has_own = reserve_own(rank) ? 1 : 0;
    int have_all = 0;
    succeed(PMPI_Allreduce(&has_own, &have_all, 1, MPI_INT, MPI_MIN, comm));
    segment_.close_file();
    if (have_all == 0) {
      segment_ = Segment();
      budget_ = MemoryBudget();
      return;
    }
    lines_.emplace(segment_.data(), rank, ranks);
    touch(rank, ranks);
  }

  /// Returns the shared memory; null if the ranks share none.
  [[nodiscard]] SharedMemory* lines() { return lines_ ? &*lines_ : nullptr; }

 private:
  static void succeed(int error) {
    if (error != MPI_SUCCESS) throw Failed{error};
  }

  /// Touches all pages, which would delay the first operations otherwise.
  void touch(int rank, int ranks) const {
    constexpr auto pages_of_rank = sizeof(Lines) / page_bytes;
    const auto own = pages_of_rank * static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < pages_of_rank * static_cast<std::size_t>(ranks); ++i) {
      const std::atomic_ref word(*reinterpret_cast<Number*>(segment_.data() + i * page_bytes));
      // Peers write the first page of a rank, which holds its flags.
      const bool is_written = i - own < pages_of_rank || i % pages_of_rank == 0;
      static_cast<void>(is_written ? word.fetch_or(0) : word.load());
    }
  }

  /// Reserves this rank's own lines.
  [[nodiscard]] bool reserve_own(int rank) {
    return budget_.take(sizeof(Lines)) &&
           segment_.reserve(SharedMemory::start_of(rank), sizeof(Lines));
  }

  MemoryBudget budget_;
  Segment segment_;
  std::optional<SharedMemory> lines_;
};

// Finds what the ranks of a communicator have in common, once before any of them leaves the
// library's algorithm: a rank that ran a different algorithm than its peers would wait forever.

/// Returns a hash of the host and its process namespace; 0 if either is unknown, or if the ranks
/// are on a virtual network: shared memory would bypass it.
inline std::uint64_t host_seen() {
  static const std::uint64_t host = [] {
    const auto boot = preloaded::virtual_time() == nullptr ? boot_id() : "";
    struct stat processes{};
    if (boot.empty() || stat("/proc/self/ns/pid", &processes) != 0) return std::uint64_t{0};
    return static_cast<std::uint64_t>(
        std::hash<std::string>{}(boot + ' ' + std::to_string(processes.st_ino)));
  }();
  return host;
}

/// Whether this thread may make a communicator while others do. Threads of Open MPI 5.0 deadlock if
/// one makes a communicator of some ranks while the others make communicators of all ranks;
/// programs make most of theirs in the main thread, one after the other.
inline bool can_make_communicators() {
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  PMPI_Query_thread(&level);
  PMPI_Is_thread_main(&is_main);
  return level != MPI_THREAD_MULTIPLE || is_main != 0 || !preloaded::library_is("Open MPI");
}

struct Agreement {
  /// Whether all ranks have the same rules.
  bool on_rules = false;
  /// Whether all ranks have the same lessons of earlier runs.
  bool on_lessons = false;
  /// Whether all ranks are on one host and see each other there.
  bool on_host = false;
  /// Whether ranks outnumber their cores.
  bool is_oversubscribed = false;
  /// Whether every rank may make a separate communicator for messages.
  bool on_communicators = false;
  /// Whether all ranks are asked for a report.
  bool on_report = false;
};

/// Compares the ranks of a communicator; collective. Throws Failed.
inline Agreement agreed(MPI_Comm comm, int ranks) {
  const auto digest = Choices::of_process().digest();
  const auto lessons = lessons_of_process().digest();
  const auto host = host_seen();
  const auto core_words = Oversubscription::of_rank();
  // A word is equal on all ranks if its bitwise or is the complement of the or of its complement.
  const std::uint64_t makes_none = can_make_communicators() ? 0 : 1;
  const std::uint64_t reports_none = Counts::are_wanted() ? 0 : 1;
  std::array<std::uint64_t, 8 + std::tuple_size_v<Oversubscription::Words>> words{
      digest, ~digest, host, ~host, makes_none, lessons, ~lessons, reports_none};
  std::ranges::copy(core_words, words.begin() + 8);
  auto combined = words;
  const int error = PMPI_Allreduce(words.data(), combined.data(), static_cast<int>(words.size()),
                                   MPI_UINT64_T, MPI_BOR, comm);
  if (error != MPI_SUCCESS) throw Failed{error};
  const bool on_host = combined[2] == ~combined[3] && combined[2] != 0;
  const auto cores = std::span(combined).subspan(8);
  return {combined[0] == ~combined[1],
          combined[5] == ~combined[6],
          on_host,
          on_host && Oversubscription::is_oversubscribed(cores, ranks),
          combined[4] == 0,
          combined[7] == 0};
}

/// Returns the seconds of this process's clock.
inline double now_s() {
  static const SteadyClock clock;
  return clock.now_s();
}

/// Returns what a look at the clock takes.
inline double clock_reading_s() {
  static const double reading_s = [] {
    constexpr int readings = 16;
    const double start_s = now_s();
    for (int i = 1; i < readings; ++i) now_s();
    return (now_s() - start_s) / readings;
  }();
  return reading_s;
}

/// Returns how many pages this thread has touched first.
inline std::int64_t touched_pages() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt : 0;
}

/// The state of a communicator in this process, stored as an attribute. Everything that needs other
/// ranks is made when an operation first needs it, which is the same operation on all ranks.
class Communicator {
 public:
  /// Returns the state of a communicator, made at its first operation; null if that fails.
  static Communicator* of(MPI_Comm comm) {
    if (Communicator* recent = seen(comm)) return recent;
    const auto now = age().load(std::memory_order_acquire);
    auto* state = attached_to(comm);
    if (state != nullptr) seen_by_thread().place_of(comm) = {comm, now, state};
    return state;
  }
  /// Returns the state if this thread used the communicator recently; null otherwise.
  [[gnu::always_inline]] static Communicator* seen(MPI_Comm comm) {
    const Seen& last = seen_by_thread().place_of(comm);
    const bool holds = last.comm == comm && last.age == age().load(std::memory_order_acquire);
    return holds ? last.state : nullptr;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

  /// Whether an operation of some size may be routed past the library; never on intercommunicators
  /// or with a single rank.
  [[nodiscard]] bool may_route(Operation operation) const {
    return learns() || spans_[index_of(operation)].size_bytes > 0;
  }
  /// Whether an operation of `size_bytes` may be routed past the library.
  [[nodiscard]] bool may_route(Operation operation, std::uint64_t size_bytes) const {
    return spans_[index_of(operation)].holds(size_bytes);
  }
  /// Leaves all operations to the library from now on.
  void leave() {
    spans_.fill(Span{0, 0});
    learning_ = Learning::none;
  }

  /// Agrees on the rules; the first call is collective. Throws Failed.
  void agree_once() {
    if (!is_agreed_) agree();
  }
  /// Returns the way of an operation by the rules.
  [[nodiscard]] int ruled(Operation operation, std::uint64_t size_bytes) const {
    return ranges_[index_of(operation)].at(size_bytes);
  }

  /// Whether any calls learn.
  [[nodiscard]] bool learns() const { return learning_ != Learning::none; }
  /// Whether calls with this combination learn; null where nothing is combined.
  [[nodiscard]] bool learns(const Combining* combining) const {
    return learning_ == Learning::all ||
           (learns() && (combining == nullptr || combining->is_exact(size_)));
  }
  [[nodiscard]] Lessons& lessons() { return *lessons_; }
  /// Notes the time of a call, and that its clocks took time, too.
  void note(Learner& learner, double call_s) {
    learner.add(call_s);
    beside_s_ += 2 * clock_reading_s();
  }
  /// Notes the pages that a call touched first, `before` of which had been touched at its start.
  void note_first_touches(Learner& learner, std::int64_t before) {
    const double start_s = now_s();
    learner.add_first_touches(touched_pages() - before);
    beside_s_ += 2 * (now_s() - start_s);
  }

  /// Ends a stretch of calls that learn, in the same call on all ranks.
  void advance(Operation operation, Contest& contest) {
    Learner& learner = contest.in_charge();
    try {
      if (learner.needs_memory() && !is_shared_known_ && !set_up(learner)) return;
      const bool is_set_up = is_shared_known_;
      if (is_set_up && shared() == nullptr) return leave();
      const auto spent = learner.needs_times() ? slowest_of_all(learner.spent()) : Spent();
      lessons().advance(
          operation, contest, spent, is_set_up,
          [&](int way, std::uint64_t size_bytes) { return is_open(operation, way, size_bytes); });
    } catch (const Failed&) {
      // The call itself has ended well.
      leave();
    }
  }

  /// Returns the bytes of a part by the rules, for algorithms that cut messages.
  [[nodiscard]] std::size_t part_bytes(Operation operation, std::uint64_t size_bytes) const {
    return ranges_[index_of(operation)].part_bytes_at(size_bytes);
  }

  /// Returns the shared memory, null if there is none. The first call is collective. Throws Failed.
  SharedMemory* shared() {
    if (!is_shared_known_) share();
    return memory_ ? memory_->lines() : nullptr;
  }
  /// Returns the memory of other ranks; null if one may not read another's, or they share no slots.
  /// The first call is collective. Throws Failed.
  Peers* peers() {
    SharedMemory* slots = shared();
    if (slots != nullptr && !are_peers_known_) peers_ = Peers::of(*slots);
    are_peers_known_ = true;
    return peers_ ? &*peers_ : nullptr;
  }
  /// Returns the groups of ranks; null if these share no memory. The first call is
  /// collective. Throws Failed.
  const Hierarchy* hierarchy() {
    static const CoreCaches own = core_caches(allowed_cpus());
    SharedMemory* slots = shared();
    if (slots != nullptr && !hierarchy_) hierarchy_ = Hierarchy::of(*slots, own);
    return hierarchy_ ? &*hierarchy_ : nullptr;
  }
  /// Measures what bounds operations from below, at the end of the program; nothing if not all
  /// ranks are asked for a report, or if they wait for cores or have not learned. Collective: ranks
  /// that are not there within 5 s are not waited for.
  std::optional<Floor> floor() {
    const bool can = is_agreed_ && agreement_.on_report && !agreement_.is_oversubscribed &&
                     learns() && is_shared_known_ && shared() != nullptr;
    if (!can) return std::nullopt;
    deadline_s_ = now_s() + 5;
    try {
      return measured_floor(*shared());
    } catch (const Failed&) {
    } catch (const std::bad_alloc&) {
    }
    return std::nullopt;
  }
  /// Returns the messages; null if the library cannot make another communicator. The first call is
  /// collective.
  Messages* messages() {
    if (!agreement_.on_communicators) return nullptr;
    if (!messages_) messages_ = std::make_unique<Messages>(comm_);
    return messages_->is_open() ? messages_.get() : nullptr;
  }
  [[nodiscard]] bool has_messages() const { return messages_ && messages_->is_open(); }

  /// Frees nothing from now on: the library ends and releases everything.
  static void end() { is_ending().store(true, std::memory_order_release); }

 private:
  struct Seen {
    MPI_Comm comm{};
    std::uint64_t age = 0;
    Communicator* state = nullptr;
  };
  static Recent<Seen>& seen_by_thread() {
    static constinit thread_local Recent<Seen> seen;
    return seen;
  }

  /// Counts freed communicators, whose handles may be reused.
  static std::atomic<std::uint64_t>& age() {
    static std::atomic<std::uint64_t> value{1};
    return value;
  }
  static std::atomic<bool>& is_ending() {
    static std::atomic<bool> value{false};
    return value;
  }

  static Communicator* attached_to(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return nullptr;
    void* state = nullptr;
    int is_set = 0;
    if (PMPI_Comm_get_attr(comm, key(), static_cast<void*>(&state), &is_set) != MPI_SUCCESS)
      return nullptr;
    if (is_set != 0) return static_cast<Communicator*>(state);
    std::unique_ptr<Communicator> created(new Communicator(comm));
    if (PMPI_Comm_set_attr(comm, key(), created.get()) != MPI_SUCCESS) return nullptr;
    return created.release();
  }

  static int key() {
    static const int keyval = [] {
      int value = MPI_KEYVAL_INVALID;
      PMPI_Comm_create_keyval(&Communicator::copy_nothing, &Communicator::forget, &value, nullptr);
      return value;
    }();
    return keyval;
  }
  /// Does what MPI_COMM_NULL_COPY_FN does, which is a symbol in some libraries.
  static int copy_nothing(MPI_Comm, int, void*, void*, void*, int* is_copied) {
    *is_copied = 0;
    return MPI_SUCCESS;
  }
  static int forget(MPI_Comm, int, void* value, void*) {
    age().fetch_add(1, std::memory_order_acq_rel);
    auto* self = static_cast<Communicator*>(value);
    if (is_ending().load(std::memory_order_acquire)) static_cast<void>(self->messages_.release());
    delete self;
    return MPI_SUCCESS;
  }

  explicit Communicator(MPI_Comm comm) : comm_(comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &size_);
    if (is_inter != 0 || size_ < 2) leave();
  }

  void agree() {
    is_agreed_ = true;
    if (!RollCall::of_process().is_complete(comm_)) return leave();
    agreement_ = agreed(comm_, size_);
    if (!agreement_.on_rules) return disagree();
    const Place place{size_, agreement_.on_host, agreement_.is_oversubscribed};
    if (agreement_.on_host) learning_ = Choices::of_process().learning();
    if (learns()) lessons_ = std::make_unique<Lessons>(size_, lessons_to_start_with());
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      ranges_[i] = Choices::of_process().ranges(static_cast<Operation>(i), place);
      spans_[i] = ranges_[i].span();
    }
  }
  [[nodiscard]] const LessonFile* lessons_to_start_with() const {
    if (agreement_.on_lessons) return &lessons_of_process();
    Lessons::differ();
    return nullptr;
  }
  void disagree() {
    leave();
    static std::atomic<bool> is_reported{false};
    if (rank_ == 0 && !is_reported.exchange(true))
      std::fputs(
          "nhalf: the ranks have different decision tables or learn different things, or not all"
          " can read their tables; every"
          " operation is the library's own\n",
          stderr);
  }

  /// Sets up shared memory for learning, once every rank can afford it; returns whether that was
  /// tried. Throws Failed.
  bool set_up(Learner& learner) {
    const double start_s = now_s();
    int can_afford = Lessons::can_afford(learner.waited_s()) ? 1 : 0;
    int all_can = 0;
    const int error = PMPI_Allreduce(&can_afford, &all_can, 1, MPI_INT, MPI_MIN, comm_);
    if (error != MPI_SUCCESS) throw Failed{error};
    if (all_can != 0)
      share();
    else
      learner.wait_again();
    Lessons::spend(now_s() - start_s + (all_can != 0 ? Lessons::communicator_s : 0));
    return all_can != 0;
  }

  /// Whether calls of an operation from a size on may try a further way. Throws Failed.
  bool is_open(Operation operation, int number, std::uint64_t size_bytes) {
    const double start_s = now_s();
    bool is_open = false;
    if (number == way::single_copy) {
      is_open = peers() != nullptr;
    } else if (number == way::streaming) {
      is_open = has_streaming_stores && hierarchy() != nullptr &&
                hierarchy()->exceeds_caches(operation, size_bytes);
    } else if (size_ > 2 && hierarchy() != nullptr) {
      is_open = hierarchy()->may_help(operation);
    }
    Lessons::spend(now_s() - start_s);
    return is_open;
  }

  /// Returns what the slowest rank has spent by either way, the same bits on all ranks, and the
  /// least of what they did beside calls: the others waited for that rank, as they would have
  /// later. Throws Failed.
  Spent slowest_of_all(Spent own) {
    own.beside_s = std::exchange(beside_s_, 0);
    const double start_s = now_s();
    std::vector<Spent> all(static_cast<std::size_t>(size_));
    shared::allgather(*shared(), std::as_bytes(std::span(&own, 1)),
                      std::as_writable_bytes(std::span(all)));
    Spent slowest = all.front();
    for (const auto& of_rank : all) {
      slowest.own_s = std::max(slowest.own_s, of_rank.own_s);
      slowest.other_s = std::max(slowest.other_s, of_rank.other_s);
      slowest.beside_s = std::min(slowest.beside_s, of_rank.beside_s);
      slowest.first_touches = std::max(slowest.first_touches, of_rank.first_touches);
    }
    // An interruption is no cost of the exchange.
    const double exchange_s = now_s() - start_s;
    exchange_least_s_ = std::min(exchange_least_s_, exchange_s);
    beside_s_ = std::min(exchange_s, 4 * exchange_least_s_);
    return slowest;
  }

  void share() {
    is_shared_known_ = true;
    if (!agreement_.on_host) return;
    memory_.emplace(comm_, rank_, size_);
    if (memory_->lines() == nullptr) return;
    auto& waiting = memory_->lines()->waiting;
    if (agreement_.is_oversubscribed) waiting.yield_soon();
    waiting.context = this;
    waiting.progress = [](void* self) { return static_cast<Communicator*>(self)->progress(); };
  }

  /// Lets the library make progress on messages from peers, without receiving any. A probe reports
  /// an ended peer only if it names that peer, so peers are probed in turn.
  int progress() {
    peer_ = peer_ + 1 < size_ ? peer_ + 1 : 0;
    int flag = 0;
    if (now_s() > deadline_s_) return MPI_ERR_OTHER;
    return PMPI_Iprobe(peer_, 0, comm_, &flag, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  int peer_ = 0;
  PerOperation<Span> spans_;
  bool is_agreed_ = false;
  Agreement agreement_;
  bool is_shared_known_ = false;
  PerOperation<Ranges> ranges_;
  Learning learning_ = Learning::none;
  std::unique_ptr<Lessons> lessons_;
  double beside_s_ = 0;
  double exchange_least_s_ = std::numeric_limits<double>::infinity();
  std::optional<CommonMemory> memory_;
  bool are_peers_known_ = false;
  std::optional<Peers> peers_;
  std::optional<Hierarchy> hierarchy_;
  /// When ranks that wait give up; only at the end of the program.
  double deadline_s_ = std::numeric_limits<double>::infinity();
  std::unique_ptr<Messages> messages_;
};

}  // namespace nhalf::coll

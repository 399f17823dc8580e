// nhalf-needs: MPI
// The recorder of one thread: its file, cells, spans of time and timeline.
#pragma once

#include "trace/cells.hpp"
#include "trace/communicators.hpp"
#include "trace/inject.hpp"
#include "trace/processor_time.hpp"
#include "trace/sites.hpp"
#include "trace/timeline.hpp"

namespace nhalf::trace {
using calls::Call;

/// The begin of the command in ticks of this process, and the length of a tick.
struct Beginning {
  Reading first;
  Ticks command = 0;
  /// Logarithm of the ticks per span; a span begins with about a millisecond.
  std::uint32_t spans_shift = 20;
  /// Ticks of about two microseconds.
  Ticks short_call = 4096;
  /// Whether reading the clock takes no time, so that every call is timed.
  bool clock_is_free = false;
  LookCosts looks;
};

class Recorder {
 public:
  /// Makes a recorder; null and an `error` if its file cannot be made, ENOMEM beyond the budget.
  static std::unique_ptr<Recorder> made(const std::string& stem, std::uint32_t thread,
                                        bool with_timeline, const Beginning& beginning,
                                        int& error) {
    const std::size_t memory_bytes = sizeof(Recorder) + offsetof(Layout, cells) + 8192 +
                                     (with_timeline ? window_bytes(thread) : 0);
    error = ENOMEM;
    if (!take_memory(memory_bytes)) return nullptr;
    constexpr std::size_t least_bytes = offsetof(Layout, cells) + 1024 * sizeof(Cell);
    const std::string path = stem + "-" + std::to_string(thread);
    auto file = std::make_unique<File>((path + ".counts").c_str(),
                                       mapped_most_bytes(sizeof(Layout), least_bytes));
    if (file->error() == 0) file->grow(offsetof(Layout, cells));
    error = file->error();
    if (error != 0) {
      give_memory(memory_bytes);
      // A file without its head is useless.
      unlink((path + ".counts").c_str());
      return nullptr;
    }
    return std::unique_ptr<Recorder>(
        new Recorder(std::move(file), path, thread, with_timeline, beginning));
  }

  /// Returns the cell of a subject without counting.
  [[gnu::always_inline]] Cell& cell(const Subject& subject) { return cells_.of(subject); }

  /// Returns how many calls of a cell the time of the next one represents; 0 if it is not timed.
  /// Two readings of the clock may take longer than the call, so every eighth of many short calls
  /// is timed, at random intervals.
  [[gnu::always_inline]] std::uint64_t weight(const Cell& cell) {
    if (times_all_ || cell.count < often || cell.time > cell.count * short_call_) return 1;
    return begun_weight();
  }

  /// Returns the weight, as `weight` does, of calls that begin an operation.
  [[gnu::always_inline]] std::uint64_t begun_weight() {
    if (times_all_) return 1;
    if (--until_timed_ > 0) [[likely]]
      return 0;
    random_ = random_ * 1664525U + 1013904223U;
    until_timed_ = static_cast<std::int32_t>(1 + (random_ >> 29U) * 2);
    return sampling;
  }

  /// Notes where the program calls.
  [[gnu::always_inline]] void called_from(Caller caller) { site_ = &sites_.of(caller); }

  /// Returns when a call begins at `at`: after what was off the processor in a long computation
  /// before it is known.
  [[gnu::always_inline]] Ticks arrived(Ticks at) {
    if (at - last_end_ > processor_.long_piece()) [[unlikely]]
      return after_long_piece(at);
    return at;
  }

  /// Continues with another thread.
  void taken_over() { processor_.rebase(); }

  /// Returns the cell of the last receive from a source, to predict the next; null before the
  /// first.
  [[gnu::always_inline]] Cell*& expected(int source, MPI_Comm comm) {
    const auto mixed = number_of(comm) * 0x9e3779b97f4a7c15U;
    return expected_[(static_cast<std::uint32_t>(source) ^ (mixed >> 48U)) % sources];
  }

  /// Counts a call without reading the clock.
  [[gnu::always_inline]] void add_untimed(Cell& into, const Subject& subject) {
    into.count += 1;
    into.bytes += subject.size_bytes;
    spans_.add(subject.kind, subject.size_bytes, last_end_, 0, 0);
    if (Cell* const site = cell_of_site(subject)) [[likely]] {
      site->count += 1;
      site->bytes += subject.size_bytes;
    }
    if (timeline_ != nullptr) [[unlikely]]
      timeline_->add(subject, 0, last_end_, last_end_, 0);
  }

  /// Counts a call from `begin` to `end`, whose time represents `weight` calls.
  [[gnu::always_inline]] void add(Cell& into, const Subject& subject, std::int32_t tag, Ticks begin,
                                  Ticks end, bool can_wait_for_others, std::uint64_t weight = 1) {
    // A call on another stack may have been counted meanwhile.
    const Ticks own_begin = std::max(begin, last_end_);
    const Ticks time = end > own_begin ? end - own_begin : 0;
    const Ticks all = claimed_.claim(time, end, weight);
    // A call that represents others takes what passed for computing.
    computed_ += own_begin - last_end_ - (all - time);
    if (subject.kind == Kind::collective) layout_.head.publish_collective(computed_);
    into.count += 1;
    into.bytes += subject.size_bytes;
    into.time += all;
    limit(into, time);
    // A call that moves no data only waits; for others the shortest so far counts as its own work.
    const bool moves = subject.size_bytes > 0 || subject.kind < Kind::collective;
    const Ticks own_time = moves ? into.least * weight : 0;
    const Ticks waiting = can_wait_for_others ? all - std::min(all, own_time) : 0;
    into.waiting += waiting;
    last_end_ = end;
    if (spans_.add(subject.kind, subject.size_bytes, begin, all, waiting)) heartbeat();
    if (Cell* const site = cell_of_site(subject)) [[likely]]
      count_at(*site, subject, time, all, waiting);
    if (time > processor_.long_piece()) [[unlikely]]
      look(begin, end, true);
    if (timeline_ != nullptr) [[unlikely]]
      timeline_->add(subject, tag, begin, end, waiting);
    if (Injection::is_on) [[unlikely]]
      saw(subject, tag, begin, end);
  }

  /// Returns what a call of `time` until `end`, which is counted later, takes with those that it
  /// represents.
  [[gnu::always_inline]] Ticks claim(Ticks time, Ticks end, std::uint64_t weight) {
    return claimed_.claim(time, end, weight);
  }

  [[gnu::always_inline]] void add(const Subject& subject, std::int32_t tag, Ticks begin, Ticks end,
                                  bool can_wait_for_others) {
    add(cell(subject), subject, tag, begin, end, can_wait_for_others);
  }

  /// Counts a nonblocking receive at its end; `time` is the part within calls.
  void add_begun(const Subject& subject, std::int32_t tag, Ticks begin, Ticks end, Ticks time) {
    Cell& into = cell(subject);
    into.count += 1;
    into.bytes += subject.size_bytes;
    into.time += time;
    if (time > 0) limit(into, time);
    spans_.add(subject.kind, subject.size_bytes, end, time, 0);
    if (Cell* const site = cell_of_site(subject)) count_at(*site, subject, time, time, 0);
    if (timeline_ != nullptr) timeline_->add(subject, tag, begin, end, 0);
    if (Injection::is_on) [[unlikely]]
      saw(subject, tag, begin, end);
  }

  template <class Count>
  [[gnu::always_inline]] std::uint64_t bytes(Count count, MPI_Datatype type) {
    if (count <= 0) return 0;
    if (const auto* size_bytes = types_.find(type)) [[likely]]
      return static_cast<std::uint64_t>(count) * *size_bytes;
    if (!may_ask_) return is_lacking_ = true, 0;
    return static_cast<std::uint64_t>(count) * types_.asked(type);
  }

  [[gnu::always_inline]] const Communicator& communicator(MPI_Comm comm) {
    const auto generation = Communicators::generation.load(std::memory_order_relaxed);
    if (comm != last_comm_ || generation != last_generation_ || last_ == nullptr) [[unlikely]] {
      const auto* entry = Communicators::of_process().of(comm, may_ask_);
      if (entry == nullptr) return is_lacking_ = true, Communicators::unknown();
      last_ = entry;
      last_comm_ = comm;
      last_generation_ = generation;
    }
    return *last_;
  }

  [[gnu::always_inline]] Subject subject(Call call, Kind kind, const Communicator& on,
                                         std::int32_t partner, std::uint64_t size_bytes) {
    return {static_cast<std::uint16_t>(call), kind, on.number, partner, size_bytes, site_->number};
  }

  /// Returns the subject of a wait for no message in particular.
  [[gnu::always_inline]] Subject wait(Call call) {
    return {static_cast<std::uint16_t>(call), Kind::waiting, 0, no_partner, 0, site_->number};
  }

  /// Whether a subject is incomplete because the library was not queried: a handle that was never
  /// seen may be wrong, and a query would call the program's error handler once more.
  [[nodiscard]] bool is_lacking() const { return is_lacking_; }

  /// Allows queries of the library during its lifetime, after the call with the handles succeeded.
  class Asking {
   public:
    explicit Asking(Recorder& on) : on_(on) { on_.may_ask_ = true, on_.is_lacking_ = false; }
    ~Asking() { on_.may_ask_ = false; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    Recorder& on_;
  };
  /// Resets `is_lacking`, before a call that may fail.
  void forget_lack() { is_lacking_ = false; }

  [[gnu::noinline]] void heartbeat() {
    const auto reading = Reading::now_on_all();
    layout_.head.last = reading.moment;
    layout_.head.last_steady_ns = reading.steady_ns;
  }

  /// The call that is counted.
  preloaded::OutermostCall outermost;

  /// What the present call has done, to be delayed (inject.hpp).
  Injected injected;

  /// Tells the receiver of a message that it is sent now, where messages are delayed. `sent`
  /// returns the subject of the message, of which nothing is told if it is incomplete.
  template <class Sent>
  [[gnu::noinline]] void tell(const Sent& sent, std::int32_t tag, Ticks begin) {
    forget_lack();
    const Subject subject = sent();
    if (!is_lacking_) Injection::of_process().tell(injected, subject, tag, begin);
  }

  /// Holds the present call, whose records end later then.
  void hold(Call call) {
    const Ticks by = Injection::of_process().leave(injected, static_cast<std::uint16_t>(call));
    if (by == 0) return;
    if (timeline_ != nullptr) timeline_->extend(last_end_, by);
    last_end_ += by;
  }

  void finish() {
    heartbeat();
    layout_.head.finished = 1;
  }

 private:
  Recorder(std::unique_ptr<File> file, const std::string& path, std::uint32_t thread,
           bool with_timeline, const Beginning& beginning)
      : file_(std::move(file)),
        layout_(*reinterpret_cast<Layout*>(file_->data())),
        cells_(*file_, layout_),
        spans_(layout_, beginning.command, beginning.spans_shift),
        sites_(layout_),
        processor_(layout_.head, beginning.looks),
        short_call_(beginning.short_call),
        times_all_(with_timeline || beginning.clock_is_free || Injection::is_on),
        last_end_(beginning.first.moment.at),
        claimed_(beginning.first.moment.at, beginning.short_call) {
    layout_.head.version = format_version;
    layout_.head.thread = thread;
    layout_.head.begin = beginning.first.moment;
    layout_.head.begin_steady_ns = beginning.first.steady_ns;
    heartbeat();
    if (with_timeline)
      timeline_ = std::make_unique<Timeline>((path + ".timeline").c_str(), layout_.head,
                                             window_bytes(thread));
    layout_.head.magic = magic;
  }

  static constexpr std::uint64_t often = 64;
  static constexpr std::uint64_t sampling = 8;
  static constexpr std::size_t sources = 16;
  static constexpr int looks_most = 3;

  [[gnu::always_inline]] static void limit(Cell& into, Ticks time) {
    if (time > into.most) into.most = time;
    if (time < into.least) into.least = time;
  }

  [[gnu::noinline]] void saw(const Subject& subject, std::int32_t tag, Ticks begin, Ticks end) {
    const auto members = last_ == nullptr ? 0 : last_->member_count;
    Injection::of_process().saw(injected, subject, tag, begin, end, members);
  }

  /// Returns the cell of a call site, which has the size as well; null if the site is unknown.
  [[gnu::always_inline]] Cell* cell_of_site(const Subject& subject) {
    Site& site = *site_;
    if (site.cell != nullptr && site.number == subject.site && site.call == subject.call &&
        site.size_bytes == subject.size_bytes) [[likely]]
      return site.cell;
    return searched_cell_of_site(subject);
  }

  [[gnu::noinline]] Cell* searched_cell_of_site(const Subject& subject) {
    if (subject.site == 0) return nullptr;
    Cell& cell = cells_.of({subject.call, Kind::at_site, 0, subject.site, subject.size_bytes});
    if (subject.site == site_->number) {
      site_->cell = &cell;
      site_->call = subject.call;
      site_->size_bytes = subject.size_bytes;
    }
    return &cell;
  }

  [[gnu::always_inline]] static void count_at(Cell& site, const Subject& subject, Ticks time,
                                              Ticks all, Ticks waiting) {
    site.count += 1;
    site.bytes += subject.size_bytes;
    site.time += all;
    site.waiting += waiting;
    if (time > site.most) site.most = time;
  }

  [[gnu::noinline]] Ticks after_long_piece(Ticks at) {
    const Ticks since = last_end_;
    // Looking takes its time, which is not that of the call, and may be interrupted for long.
    for (int looks = 0; looks < looks_most; ++looks) {
      const Ticks begin = last_end_;
      last_end_ = look(begin, at, false);
      at = now();
      if (at - last_end_ <= processor_.long_piece()) break;
    }
    computed_ += at - since;
    last_end_ = at;
    return at;
  }

  /// Finds how long the thread was off its processor since it was looked at, and keeps it as that
  /// of the piece of time that ends now. Returns until when it is known.
  Ticks look(Ticks begin, Ticks end, bool is_call) {
    const Ticks since = std::max(begin, processor_.known_since());
    const auto lost = processor_.ended(end, is_call);
    // The moment is read after the clocks of the processor: it may have been lost meanwhile.
    if (!is_call) end = processor_.known_since();
    if (lost.off_ns == 0 || timeline_ == nullptr) return end;
    Subject piece{static_cast<std::uint16_t>(is_call ? 1 : 0), Kind::off_processor};
    piece.size_bytes = lost.off_ns;
    timeline_->add(piece, 0, since, end, lost.queued_ns);
    return end;
  }

  std::unique_ptr<File> file_;
  Layout& layout_;
  Cells cells_;
  SpanTable spans_;
  Sites sites_;
  Site unknown_site_;
  Site* site_ = &unknown_site_;
  ProcessorTime processor_;
  TypeSizes types_;
  Ticks short_call_;
  bool times_all_;
  Ticks last_end_;
  /// Time outside MPI, as it is known from calls that were timed.
  Ticks computed_ = 0;
  ClaimedTime claimed_;
  std::array<Cell*, sources> expected_{};
  std::uint32_t random_ = 1;
  std::int32_t until_timed_ = 1;
  MPI_Comm last_comm_{};
  std::uint32_t last_generation_ = 0;
  const Communicator* last_ = nullptr;
  bool may_ask_ = false;
  bool is_lacking_ = false;
  std::unique_ptr<Timeline> timeline_;
};
}  // namespace nhalf::trace

// nhalf-needs: MPI
// The counters of a program that is not traced and whose collectives are routed, in files as a
// traced one has them, for who watches it. A call costs two looks at a clock, and no system call
// unless it is the first of its way and about its size.
#pragma once

#include "trace/cells.hpp"
#include "trace/identity.hpp"

namespace nhalf::trace {
class CollectiveCounters {
 public:
  /// The rank, and what its calls are named by their numbers.
  struct Rank {
    int rank;
    int size;
    std::vector<std::string> calls;
  };

  /// Makes the files of a rank; null where that cannot be, and one line then says why.
  /// `saved_s` returns what the program has saved so far, in seconds.
  static std::unique_ptr<CollectiveCounters> made(Identity& identity, const char* folder,
                                                  const Rank& rank, double (*saved_s)()) {
    int error = identity.open_in(folder);
    auto& metadata = Metadata::of_process();
    if (error == 0 && !identity.introduce(rank.rank, rank.size, rank.calls))
      error = metadata.error();
    const auto path = identity.stem() + "-0.counts";
    auto file = error != 0 ? nullptr : std::make_unique<File>(path.c_str(), sizeof(Layout));
    if (file != nullptr && !file->grow(offsetof(Layout, cells))) error = file->error();
    if (error == 0)
      return std::unique_ptr<CollectiveCounters>(new CollectiveCounters(std::move(file), saved_s));
    identity.complain("watched", error);
    if (metadata.error() != EBADF) identity.remove();
    if (file != nullptr) unlink(path.c_str());
    return nullptr;
  }

  /// Counts a call from `begin` to `end` by its number.
  void add(int call, std::uint64_t size_bytes, Ticks begin, Ticks end) {
    const std::lock_guard guard(lock_);
    const Ticks time = end - begin;
    // Sizes of one power of two share a cell, so that few are needed.
    Cell& cell = cells_.of({static_cast<std::uint16_t>(call), Kind::collective, 0, no_partner,
                            std::bit_floor(size_bytes)});
    cell.count += 1;
    cell.bytes += size_bytes;
    cell.time += time;
    cell.least = std::min(cell.least, time);
    cell.most = std::max(cell.most, time);
    // As in a trace: the shortest call so far counts as its own work, where it moves anything.
    cell.waiting += time - (size_bytes > 0 ? cell.least : 0);
    if (begin > last_end_) computed_ += begin - last_end_;
    last_end_ = end;
    layout_.head.publish_collective(computed_);
    if (end - last_look_ >= between_looks) [[unlikely]]
      look();
  }

  void finish() {
    last_sum_ns_ = 0;
    look();
    layout_.head.finished = 1;
    Metadata::of_process().finished();
  }

 private:
  CollectiveCounters(std::unique_ptr<File> file, double (*saved_s)())
      : file_(std::move(file)),
        layout_(*reinterpret_cast<Layout*>(file_->data())),
        cells_(*file_, layout_),
        saved_s_(saved_s) {
    const auto first = Reading::now_on_all();
    layout_.head.version = format_version;
    layout_.head.begin = first.moment;
    layout_.head.begin_steady_ns = first.steady_ns;
    last_end_ = first.moment.at;
    look();
    layout_.head.magic = magic;
  }

  /// A sixth of a second or less, for counters of 25 MHz and more.
  static constexpr Ticks between_looks = 1U << 22U;
  static constexpr std::uint64_t between_sums_ns = 1'000'000'000;

  /// Says that the rank is at work, and now and then what it has saved, which only one thread may
  /// sum up.
  void look() {
    const auto reading = Reading::now_on_all();
    layout_.head.last = reading.moment;
    layout_.head.last_steady_ns = reading.steady_ns;
    last_look_ = reading.moment.at;
    if (threads_may_collide || reading.steady_ns - last_sum_ns_ < between_sums_ns) return;
    last_sum_ns_ = reading.steady_ns;
    layout_.head.saved_ns = static_cast<std::int64_t>(saved_s_() * 1e9);
  }

  std::unique_ptr<File> file_;
  Layout& layout_;
  Cells cells_;
  Lock lock_;
  Ticks last_end_ = 0;
  Ticks last_look_ = 0;
  Ticks computed_ = 0;
  std::uint64_t last_sum_ns_ = 0;
  double (*saved_s_)();
};
}  // namespace nhalf::trace

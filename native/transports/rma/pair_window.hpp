// nhalf-needs: MPI
// The life of a window between two ranks, step by step.
#pragma once

#include <mpi.h>

#include <string_view>

#include "contract/segment_life.hpp"
#include "contract/transport.hpp"

namespace nhalf {

/// A window of ranks 0 and 1 alone: rank 0's memory, which rank 1 puts to and gets from.
class PairWindow {
 public:
  static constexpr std::string_view steps =
      "create,register,connect,put,get,fence,disconnect,destroy";

  PairWindow() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_split(MPI_COMM_WORLD, rank_ < 2 ? 0 : MPI_UNDEFINED, rank_, &pair_);
  }
  PairWindow(const PairWindow&) = delete;
  PairWindow& operator=(const PairWindow&) = delete;
  ~PairWindow() {
    if (pair_ != MPI_COMM_NULL) MPI_Comm_free(&pair_);
  }

  /// Collective over both ranks, whose waits for each other before a step are not timed.
  template <class Timed>
  void live(ConstBytes out, Bytes in, Timed timed) {
    const auto size_bytes = static_cast<MPI_Aint>(rank_ == 0 ? out.size() : 0);
    void* memory = nullptr;
    if (rank_ == 0) timed(Step::create, [&] { MPI_Alloc_mem(size_bytes, MPI_INFO_NULL, &memory); });
    MPI_Barrier(pair_);
    MPI_Win window = MPI_WIN_NULL;
    timed(Step::enlist,
          [&] { MPI_Win_create(memory, size_bytes, 1, MPI_INFO_NULL, pair_, &window); });
    if (rank_ == 1) use(window, out, in, timed);
    MPI_Barrier(pair_);
    timed(Step::destroy, [&] {
      MPI_Win_free(&window);
      if (rank_ == 0) MPI_Free_mem(memory);
    });
  }

 private:
  template <class Timed>
  static void use(MPI_Win window, ConstBytes out, Bytes in, Timed timed) {
    const int count = static_cast<int>(out.size());
    timed(Step::connect, [&] { MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window); });
    timed(Step::put, [&] {
      MPI_Put(out.data(), count, MPI_BYTE, 0, 0, count, MPI_BYTE, window);
      MPI_Win_flush(0, window);
    });
    timed(Step::get, [&] {
      MPI_Get(in.data(), count, MPI_BYTE, 0, 0, count, MPI_BYTE, window);
      MPI_Win_flush(0, window);
    });
    timed(Step::fence, [&] { MPI_Win_flush(0, window); });
    timed(Step::disconnect, [&] { MPI_Win_unlock(0, window); });
  }

  int rank_ = 0;
  MPI_Comm pair_ = MPI_COMM_NULL;
};

}  // namespace nhalf

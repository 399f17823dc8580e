// nhalf-needs: MPI
// Control by MPI for ranks whose messages go on only while their rank lets them, and their waits
// for memory that another core will write.
#pragma once

#include "transports/bases/mpi_control.hpp"
#include "transports/bases/peer_watch.hpp"
#include "transports/bases/polled_requests.hpp"

namespace nhalf {
/// Patience with all ranks of the program, as many as there are cores for them. Throws PeerEnded
/// where one of them has gone.
class Waiting : public Patience {
 public:
  /// Decides how to wait; collective.
  explicit Waiting(MpiControl& control)
      : Patience(PeerWatch::of(control), cores_of_all(control) < control.size()) {}

 private:
  /// Returns the number of cores that all ranks of a host may run on.
  static int cores_of_all(MpiControl& control) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    cpu_set_t together;
    CPU_ZERO(&together);
    for (const auto& set : control.everybodys(mine)) CPU_OR(&together, &together, &set);
    return CPU_COUNT(&together);
  }
};

/// A rank that waits in a call of MPI does nothing for what others have under way with it, and MPI
/// knows nothing of that. So all meet first while Self's `progress()` is called again and again.
template <class Self>
class ProgressingControl : public MpiControl, public StartedByMpi<Self> {
 public:
  explicit ProgressingControl(const Options& options) : MpiControl(options), waiting_(*this) {}

  void barrier() {
    MPI_Request all_here = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
    go_on_until([&] {
      int is_done = 0;
      MPI_Test(&all_here, &is_done, MPI_STATUS_IGNORE);
      return is_done != 0;
    });
  }
  void broadcast(Bytes data) {
    barrier();
    MpiControl::broadcast(data);
  }
  bool all(bool mine) {
    barrier();
    return MpiControl::all(mine);
  }
  std::vector<std::string> gather(const std::string& text) {
    barrier();
    return MpiControl::gather(text);
  }
  std::vector<double> collect(std::span<const double> mine) {
    barrier();
    return MpiControl::collect(mine);
  }

 protected:
  [[nodiscard]] const Waiting& waiting() const { return waiting_; }

  /// Until something holds that this rank's own progress brings about.
  template <class Holds>
  void go_on_until(Holds holds) {
    waiting_.until([&] {
      if (holds()) return true;
      static_cast<Self&>(*this).progress();
      return false;
    });
  }
  /// The place of the first request that is done; their number where none `is_started`.
  template <class Request, class IsStarted, class IsDone>
  std::size_t first_done(std::span<Request> requests, IsStarted is_started, IsDone is_done) {
    return in_turn_.first_done(
        requests, [this](auto holds) { go_on_until(holds); }, is_started, is_done);
  }

 private:
  Waiting waiting_;
  PolledRequests in_turn_;
};
}  // namespace nhalf

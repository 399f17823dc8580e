// nhalf-needs: MPI
// The ranks of a kernel in message passing, and the time that they spend in communication.
#pragma once

#include <mpi.h>

#include <utility>

namespace nhalf::npb {

/// All ranks of a launch. Kernels make whatever communicators they need of `all`, which carries
/// nothing else.
class MpiWorld {
 public:
  static constexpr bool divides_data = true;

  MpiWorld() {
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
  }
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  ~MpiWorld() { MPI_Comm_free(&all); }

  MPI_Comm all = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  /// Whether a kernel with grids has a barrier after each step on one of them.
  bool meets_on_grids = false;

  /// Calls MPI, and adds its time to this rank's time in communication, by MPI's own clock, which
  /// is the virtual one where the machine is simulated.
  template <class Call>
  void communicate(Call&& call) {
    const double began_s = MPI_Wtime();
    std::forward<Call>(call)();
    communication_s_ += MPI_Wtime() - began_s;
  }

  void reset_communication() { communication_s_ = 0; }
  /// Seconds in communication since the reset.
  [[nodiscard]] double communication_s() const { return communication_s_; }

 private:
  double communication_s_ = 0;
};

}  // namespace nhalf::npb

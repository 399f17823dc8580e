// nhalf-needs: SMPI
// nhalf-flags: -fopenmp-simd -fno-math-errno -fno-trapping-math
// The kernels in message passing on a machine that SimGrid simulates. They compute here, and what
// that takes passes there as well, as many times as long as SMPI is told (smpi/host-speed).
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <simgrid/s4u.hpp>
#include <string>

#include "apps/npb/all_mpi.hpp"
#include "apps/npb/program.hpp"
#include "probe/placement.hpp"
#include "probe/session.hpp"
#include "transports/bases/mpi_control.hpp"

namespace {

using nhalf::npb::MpiWorld;

/// Ranks are actors of one process with one clock, which stands where this rank has computed to.
class Control : public nhalf::MpiControl {
 public:
  static constexpr nhalf::TransportInfo info{
      "npb-mpi", "NAS Parallel Benchmarks in message passing, simulated", {}};
  static constexpr std::string_view clock_name = "virtual";
  using MpiControl::MpiControl;

  [[nodiscard]] double now_s() const { return MPI_Wtime(); }
  [[nodiscard]] double clock_resolution_s() const { return 0; }
  [[nodiscard]] static std::string library() { return "SMPI"; }
  /// Returns the simulated node; hosts of one node with several ranks differ by a number.
  [[nodiscard]] static std::string host() {
    const auto name = simgrid::s4u::this_actor::get_host()->get_name();
    return name.substr(0, name.find('.'));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = nhalf::Arguments::parse(argc, argv);
  if (arguments.describe) {
    nhalf::write_line(nhalf::npb::description<Control>(nhalf::npb::mpi_kernels()));
    return 0;
  }
  MPI_Init(&argc, &argv);
  try {
    Control control(arguments.options);
    MpiWorld world;
    nhalf::npb::Program program(control, world, nhalf::npb::mpi_kernels());
    program.serve(nhalf::placements(control));
    // SMPI frees a communicator at once, also where others still receive on it.
    control.barrier();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "probe: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

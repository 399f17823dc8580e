// nhalf-needs: MPI
// nhalf-data-by: MPI
// nhalf-app: npb
// nhalf-model: MPI
// nhalf-flags: -fopenmp-simd -fno-math-errno -fno-trapping-math
// The NAS Parallel Benchmarks in message passing: every kernel that has a file mpi.hpp.
#include "apps/npb/all_mpi.hpp"
#include "apps/npb/program.hpp"
#include "probe/placement.hpp"
#include "probe/session.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/mpi/messages.hpp"

namespace {

using nhalf::npb::MpiWorld;

/// Control messages between ranks beside the kernels.
class Control : public nhalf::MpiControl, public nhalf::MpiNamed {
 public:
  static constexpr nhalf::TransportInfo info{
      "npb-mpi", "NAS Parallel Benchmarks in message passing", {}};
  using MpiControl::MpiControl;
};

void serve(Control& control) {
  MpiWorld world;
  nhalf::npb::Program program(control, world, nhalf::npb::mpi_kernels());
  program.serve(nhalf::placements(control));
}

}  // namespace

int main(int argc, char** argv) {
  const auto describe = [](const nhalf::Arguments&) {
    return nhalf::npb::description<Control>(nhalf::npb::mpi_kernels());
  };
  return nhalf::run_program(
      "probe", nhalf::npb::usage, argc, argv, describe, [&](const nhalf::Arguments& arguments) {
        return nhalf::launch_by_mpi<Control>(argc, argv, arguments.options, serve);
      });
}

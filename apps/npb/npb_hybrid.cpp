// nhalf-needs: MPI
// nhalf-data-by: MPI
// nhalf-app: npb
// nhalf-model: Hybrid
// nhalf-flags: -fopenmp -fno-math-errno -fno-trapping-math
// The NAS Parallel Benchmarks in message passing between ranks that each have threads: every kernel
// that has a file hybrid.hpp.
#include "apps/npb/all_hybrid.hpp"
#include "apps/npb/program.hpp"
#include "probe/placement.hpp"
#include "probe/session.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/mpi/messages.hpp"

namespace {

using nhalf::npb::HybridWorld;

/// Control messages between ranks beside the kernels.
class Control : public nhalf::MpiControl, public nhalf::MpiNamed {
 public:
  static constexpr nhalf::TransportInfo info{
      "npb-hybrid", "NAS Parallel Benchmarks in ranks that have threads", {}};
  using MpiControl::MpiControl;
};

void serve(Control& control) {
  auto places = nhalf::placements(control);
  HybridWorld world;
  nhalf::npb::Program program(control, world, nhalf::npb::hybrid_kernels());
  program.serve(std::move(places));
}

}  // namespace

int main(int argc, char** argv) {
  const auto describe = [](const nhalf::Arguments&) {
    return nhalf::npb::description<Control>(nhalf::npb::hybrid_kernels());
  };
  return nhalf::run_program("probe", nhalf::npb::usage, argc, argv, describe,
                            [&](const nhalf::Arguments& arguments) {
                              omp_set_dynamic(0);
                              return nhalf::launch_by_mpi<Control>(argc, argv, arguments.options,
                                                                   serve, MPI_THREAD_FUNNELED);
                            });
}

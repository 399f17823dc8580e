// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// nhalf-data-by: MPI
// Messages of the Message Passing Interface, on MPI_COMM_WORLD.
#pragma once

#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/mpi/messages.hpp"
#include "transports/mpi/persistent.hpp"
#include "transports/mpi/persistent_collectives.hpp"
#include "transports/mpi/varying.hpp"

namespace nhalf {

/// All that a library can do, layer upon layer.
using MpiLibrary = MpiPersistentCollectives<MpiVarying<MpiPersistent<MpiMessages>>>;

/// MPI on real machines: its own collectives serve control, and the host's clock time.
class MpiTransport : public MpiLibrary, public MpiControl {
 public:
  using MpiControl::gather;
  using MpiLibrary::gather;
  using MpiLibrary::rank;
  using MpiLibrary::size;
  static constexpr TransportInfo info{"mpi", "messages of the MPI library under test",
                                      ClockError::described};

  explicit MpiTransport(const Options& options) : MpiLibrary(true), MpiControl(options) {}

  template <class Body>
  static int launch(int argc, char** argv, int, const Options& options, Body body) {
    return launch_by_mpi<MpiTransport>(argc, argv, options, body);
  }
};

}  // namespace nhalf

NHALF_TRANSPORT(nhalf::MpiTransport);

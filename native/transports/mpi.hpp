// nhalf-needs: MPI
// nhalf-data-by: MPI
// Messages of the Message Passing Interface, on MPI_COMM_WORLD.
#pragma once

#include "contract/pattern.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/mpi/messages.hpp"
#include "transports/mpi/sessions.hpp"

namespace nhalf {
/// The MPI transport, composed of layers of features.
using MpiMessagesOfAllKinds = MpiThreads<MpiDataTypes<MpiPartitioned<MpiPersistent<MpiMessages>>>>;
using MpiLibrary = MpiSessions<MpiCommunicators<
    MpiNeighbourhoods<MpiPersistentCollectives<MpiVarying<MpiMessagesOfAllKinds>>>>>;

/// Options of the transport, beside those of its clock.
inline constexpr std::array mpi_options{
    ClockError::described[0], ClockError::described[1],
    OptionInfo{"threads", "0", "", "1: MPI is started for several threads (MPI_THREAD_MULTIPLE)"},
    OptionInfo{"first", "0", "", "1: rank 0 times its first messages, right after MPI_Init"}};

/// MPI on real machines: its own collectives serve control, and the host's clock time.
class MpiTransport : public MpiLibrary, public MpiControl, public StartedByMpi<MpiTransport> {
 public:
  using MpiControl::gather;
  using MpiLibrary::gather;
  using MpiLibrary::rank;
  using MpiLibrary::size;
  static constexpr TransportInfo info{"mpi", "messages of the MPI library under test", mpi_options};
  /// Libraries find out themselves where an address is.
  static constexpr bool offers_gpu_memory(const PatternInfo& info) { return info.sized; }

  [[nodiscard]] static double initialised_s() { return MpiStart::initialised_s; }
  [[nodiscard]] static double launched_s() { return MpiStart::launched_s; }
  [[nodiscard]] static double finalised_s() { return MpiStart::finalised_s; }

  [[nodiscard]] static RoundTrips first_messages(int partner) {
    const auto& trips = MpiStart::first_messages;
    return trips.empty() ? RoundTrips{} : trips[static_cast<std::size_t>(partner)];
  }

  explicit MpiTransport(const Options& options) : MpiLibrary(true), MpiControl(options) {}
};
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::MpiTransport);

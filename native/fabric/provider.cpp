// nhalf-package: libfabric-dev
// The virtual network: a provider of libfabric whose wires are a machine file, in virtual
// time. An MPI library finds it by FI_PROVIDER_PATH, and it is preloaded as well, so that the
// program's clocks are virtual. It links no libfabric: the MPI library brings its own.
#include <rdma/providers/fi_prov.h>

#include "fabric/clock_calls.hpp"
#include "fabric/launcher_calls.hpp"
#include "fabric/provider/domain.hpp"
#include "fabric/waits/descriptor_calls.hpp"
#include "fabric/waits/lock_calls.hpp"

namespace nhalf::fabric {
namespace {
/// The interface is 2.5's, the youngest that a library asks for; all that is used of it here has
/// kept its place since 1.9 (see `provider::zeroed`).
constexpr auto interface_version = FI_VERSION(2, 5);

constexpr Interface interface{
    .is_here = [] { return !Rank::here().endpoints().is_empty(); },
    .number = [] { return Rank::here().number(); },
    .ranks = [] { return Rank::here().ranks(); },
    .join = [] { Rank::here().join(); },
    .finish = [] { Rank::here().finish(); },
    .leave = [] { Rank::here().leave(); },
    .enter = [](const MpiCall& call) { return Rank::here().enter(call); },
    .exit = [] { Rank::here().exit(); },
    .wait_for = [](int peer, int tag,
                   bool is_world) { Rank::here().wait_for(peer, tag, is_world); },
    .now = [] { return Rank::here().now(); },
    .clock = [] { return Rank::here().clock(); },
    .sent_bytes = [] { return Rank::here().sent_bytes(); },
    .sent_messages = [] { return Rank::here().sent_messages(); },
    .received_bytes = [] { return Rank::here().received_bytes(); },
    .shares_node = [] { return Rank::here().shares_node(); },
    .stop = [](const char* kind, const char* reason) { Rank::here().stop(kind, reason); }};

/// A program may end without MPI_Finalize.
__attribute__((destructor)) void at_end() {
  if (Rank::here().is_running()) Rank::here().leave();
}
}  // namespace
}  // namespace nhalf::fabric

NHALF_EXPORTED const nhalf::fabric::Interface nhalf_fabric = nhalf::fabric::interface;

/// For programs that measure (host/virtual_clock.hpp).
NHALF_EXPORTED std::uint64_t nhalf_virtual_clock_ps() {
  return nhalf::fabric::Rank::here().clock();
}
NHALF_EXPORTED std::uint64_t nhalf_virtual_sleep_until_ps(std::uint64_t time_ps) {
  auto& rank = nhalf::fabric::Rank::here();
  if (time_ps > rank.now()) rank.sleep(time_ps - rank.now());
  return rank.now();
}
/// Half a round trip with a rank, and how long after a message from it the next one may come
/// (trace/inject.hpp).
NHALF_EXPORTED std::uint64_t nhalf_virtual_way_ps(int rank, std::uint64_t bytes) {
  return nhalf::fabric::Rank::here().wire_from(rank).time(bytes);
}
NHALF_EXPORTED std::uint64_t nhalf_virtual_spacing_ps(int rank, std::uint64_t bytes) {
  return nhalf::fabric::Rank::here().wire_from(rank).busy_in(bytes);
}
/// What this rank's messages take more from now on, in picoseconds (trace/inject.hpp).
NHALF_EXPORTED void nhalf_virtual_delay_ps(double latency, double overhead, double per_byte) {
  using nhalf::fabric::Picoseconds;
  nhalf::fabric::Rank::here().delay() = {static_cast<Picoseconds>(latency),
                                         static_cast<Picoseconds>(overhead), per_byte};
}
/// The clock of preloaded libraries (host/virtual_clock.hpp).
NHALF_EXPORTED std::uint64_t nhalf_virtual_time_ps() {
  return nhalf::fabric::Rank::here().now();
}

NHALF_EXPORTED fi_provider* fi_prov_ini() {
  using namespace nhalf::fabric;
  static fi_provider provider{
      FI_VERSION(1, 0),   interface_version,     {},   provider::provider_name,
      provider::get_info, provider::open_fabric, [] {}};
  return &provider;
}

// Ranks find out which of them share a host without the messages that SMPI sends for it.
#pragma once

#include <set>

#include "simulator/smpi.hpp"

namespace nhalf::simulator {
/// SMPI sets a communicator up in its first broadcast: every rank tells all others its leader, by a
/// ring of p (p - 1) messages that are simulated one by one (70 s for 1024 ranks), and are outside
/// of any result. For a rank that is setting up the world the ring is a copy.
class Neighbours {
 public:
  static void set_up(simgrid::smpi::Comm* comm) {
    static const auto own =
        smpi_own<void (*)(simgrid::smpi::Comm*)>("_ZN7simgrid4smpi4Comm8init_smpEv");
    if (comm != MPI_COMM_WORLD || !chooses_as_mpich()) return own(comm);
    const auto self = simgrid::s4u::this_actor::get_pid();
    setting_up_.insert(self);
    own(comm);
    setting_up_.erase(self);
  }

  /// The ranks of a communicator that share the node of the calling one, whose hosts are told apart
  /// by a number, as a communicator of their own; `leader` is the process of the first of them.
  static simgrid::smpi::Comm* within_node(simgrid::smpi::Comm* comm, int* leader) {
    const auto own = node_of(*simgrid::s4u::Actor::self());
    MPI_Group all = nullptr, mine = nullptr;
    PMPI_Comm_group(comm, &all);
    int ranks = 0;
    PMPI_Group_size(all, &ranks);
    std::vector<int> chosen;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto process = all->actor(rank);
      const auto actor = simgrid::s4u::Actor::by_pid(process);
      if (actor != nullptr && node_of(*actor) == own) {
        if (chosen.empty() || process < *leader) *leader = static_cast<int>(process);
        chosen.push_back(rank);
      }
    }
    PMPI_Group_incl(all, static_cast<int>(chosen.size()), chosen.data(), &mine);
    PMPI_Group_free(&all);
    return new simgrid::smpi::Comm(mine, nullptr, true, MPI_UNDEFINED);
  }

  static int gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                    MPI_Datatype out_type, MPI_Comm comm) {
    static const auto own = smpi_own<decltype(&simgrid::smpi::allgather__ring)>(
        "_ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
    if (!setting_up_.contains(simgrid::s4u::this_actor::get_pid()))
      return own(in, in_count, in_type, out, out_count, out_type, comm);
    int type_bytes = 0, rank = 0, ranks = 0;
    PMPI_Type_size(in_type, &type_bytes);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    const auto size_bytes =
        static_cast<std::size_t>(in_count) * static_cast<std::size_t>(type_bytes);
    auto& all = gatherings_[comm];
    if (!all.barrier) all.barrier = simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks));
    all.data.resize(size_bytes * static_cast<std::size_t>(ranks));
    std::memcpy(all.data.data() + size_bytes * static_cast<std::size_t>(rank), in, size_bytes);
    all.barrier->wait();
    std::memcpy(out, all.data.data(), all.data.size());
    all.barrier->wait();
    return MPI_SUCCESS;
  }

 private:
  /// Data that all ranks of a communicator contribute, and where they wait for each other.
  struct Gathering {
    std::vector<std::byte> data;
    simgrid::s4u::BarrierPtr barrier;
  };

  /// The name of the node of an actor.
  static std::string node_of(const simgrid::s4u::Actor& actor) {
    const auto& host = actor.get_host()->get_name();
    return host.substr(0, host.find('.'));
  }

  static inline std::set<aid_t> setting_up_;
  static inline std::map<MPI_Comm, Gathering> gatherings_;
};
}  // namespace nhalf::simulator

void simgrid::smpi::Comm::init_smp() {
  nhalf::simulator::Neighbours::set_up(this);
}

simgrid::smpi::Comm* simgrid::smpi::Comm::find_intra_comm(int* leader) {
  return nhalf::simulator::Neighbours::within_node(this, leader);
}

int simgrid::smpi::allgather__ring(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                   int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  return nhalf::simulator::Neighbours::gather(in, in_count, in_type, out, out_count, out_type,
                                              comm);
}

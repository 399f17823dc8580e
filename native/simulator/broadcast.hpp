// A broadcast to the nodes and then within them that does not wait for itself.
#pragma once

#include "simulator/smpi.hpp"

namespace nhalf::simulator {
/// SMPI's SMP_binomial sends some ranks a message more than they receive, unless the nodes are two
/// to a power, which a later broadcast may take for its own. This is what it means: a binomial tree
/// over the first ranks of the nodes, then one within each node.
class NodesFirst {
 public:
  static int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    static const auto own = smpi_own<decltype(&simgrid::smpi::bcast__SMP_binomial)>(
        "_ZN7simgrid4smpi19bcast__SMP_binomialEPviPNS0_8DatatypeEiPNS0_4CommE");
    int rank = 0;
    if (comm->get_leaders_comm() == MPI_COMM_NULL) comm->init_smp();
    if (!comm->is_uniform()) return own(data, count, type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (root != 0 && rank == root) PMPI_Send(data, count, type, 0, tag, comm);
    if (root != 0 && rank == 0) PMPI_Recv(data, count, type, root, tag, comm, MPI_STATUS_IGNORE);
    auto* node = comm->get_intra_comm();
    int place = 0;
    PMPI_Comm_rank(node, &place);
    using simgrid::smpi::bcast__binomial_tree;
    if (place == 0) bcast__binomial_tree(data, count, type, 0, comm->get_leaders_comm());
    return bcast__binomial_tree(data, count, type, 0, node);
  }

 private:
  static constexpr int tag = 77;
};
}  // namespace nhalf::simulator

int simgrid::smpi::bcast__SMP_binomial(void* data, int count, MPI_Datatype type, int root,
                                       MPI_Comm comm) {
  return nhalf::simulator::NodesFirst::bcast(data, count, type, root, comm);
}

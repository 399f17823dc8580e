// Declarations of SMPI whose headers are not installed, and access to SMPI's functions that this
// library replaces.
#pragma once

#include <dlfcn.h>
#include <smpi/smpi.h>

#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>

#include "contract/options.hpp"

int smpi_is_shared(const void* data, std::vector<std::pair<std::size_t, std::size_t>>& blocks,
                   std::size_t* offset);

namespace simgrid::smpi {
class Group {
 public:
  [[nodiscard]] aid_t actor(int rank) const;
};
class Topo;
class Request {
 public:
  void start();
  static void finish_wait(Request** request, MPI_Status* status);
};
class Comm {
 public:
  Comm(Group* group, std::shared_ptr<Topo> topology, bool within_node, int number);
  void init_smp();
  Comm* find_intra_comm(int* leader);
  [[nodiscard]] bool is_uniform() const;
  [[nodiscard]] Comm* get_intra_comm() const;
  [[nodiscard]] Comm* get_leaders_comm() const;

 private:
  /// Storage of at least the size of the real class.
  alignas(std::max_align_t) std::byte own_[2048];
};
int allgather__ring(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                    MPI_Datatype out_type, MPI_Comm comm);

int bcast__SMP_binomial(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int bcast__binomial_tree(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
}  // namespace simgrid::smpi

namespace nhalf::simulator {
/// Returns SimGrid's own function of a name that this library replaces, since it is loaded first.
template <class Function>
Function smpi_own(const char* name) {
  auto* function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) throw InputError(std::string("SimGrid has no ") + name);
  return reinterpret_cast<Function>(function);
}

/// Whether SMPI selects collectives as MPICH does; for other libraries nothing is replaced.
inline bool chooses_as_mpich() {
  static const bool chooses =
      simgrid::config::get_value<std::string>("smpi/coll-selector") == "mpich";
  return chooses;
}
}  // namespace nhalf::simulator

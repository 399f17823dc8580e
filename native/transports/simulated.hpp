// nhalf-needs: SMPI
// Messages of a machine that SimGrid simulates; its virtual clock times them.
#pragma once

#include <cstdio>
#include <xbt/config.hpp>

#include "algorithms/alltoall/alltoall.hpp"
#include "contract/pattern.hpp"
#include "simulator/actors.hpp"
#include "simulator/folded_memory.hpp"
#include "transports/bases/control.hpp"

// Each of these reads the processor's time twice, for computations that we do not simulate, and
// then calls its inner one: a twentieth of what a message costs here.
#define MPI_Send PMPI_Send
#define MPI_Recv PMPI_Recv
#define MPI_Isend PMPI_Isend
#define MPI_Irecv PMPI_Irecv
#define MPI_Wait PMPI_Wait
#include "transports/mpi/messages.hpp"

namespace nhalf {
/// The calls of MPI as SMPI simulates them (A. Degomme et al., "Simulating MPI applications: the
/// SMPI approach", IEEE TPDS 28, 2017). Ranks are actors of one process; control costs no simulated
/// time, all read one clock, and what was measured once comes out the same every time.
class SimulatedTransport : public MpiMessages {
 public:
  using MpiMessages::gather;
  static constexpr TransportInfo info{"simulated", "messages of a simulated machine", {}};
  static constexpr std::string_view clock_name = "virtual";
  static constexpr bool exact = true;

  template <class Body>
  static int launch(int argc, char** argv, int, const Options&, Body body) {
    MPI_Init(&argc, &argv);
    {
      SimulatedTransport transport;
      try {
        body(transport);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "probe: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      transport.barrier();
      simulator::FoldedMemory::close();
    }
    MPI_Finalize();
    return 0;
  }

  [[nodiscard]] double now_s() const { return simgrid::s4u::Engine::get_clock(); }
  void idle_until(double clock_s) { simgrid::s4u::this_actor::sleep_until(clock_s); }
  [[nodiscard]] std::string clock_source() const { return "the simulation"; }
  [[nodiscard]] double clock_resolution_s() const { return 0; }

  /// Whether the first operation of some length may look for hosts that ranks share, by messages
  /// that it is charged with. MPICH's selection in SMPI does so in its first broadcast of any
  /// length, and that is the one of the verification.
  [[nodiscard]] bool sets_up() const {
    return simgrid::config::get_value<std::string>("smpi/coll-selector") != "mpich";
  }

  void barrier() { team().barrier->wait(); }
  void broadcast(Bytes data) { team().control.broadcast(rank(), data); }
  bool all(bool mine) { return team().control.all(rank(), mine); }
  std::vector<std::string> gather(const std::string& text) {
    return team().control.gather(rank(), text);
  }

  /// One after the other: SMPI looks at all of several requests again when one of them is done.
  void wait_all(std::span<Request> requests) {
    for (auto& request : requests) wait(request);
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    Request requests[] = {irecv(from, in), isend(to, out)};
    wait_all(requests);
  }

  /// Empty blocks are no messages; SMPI's own sends them to everybody.
  void alltoallv(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                 PerRank out_counts, PerRank out_offsets) {
    using algorithms::alltoall::numbered;
    algorithms::alltoall::windowed(*this, numbered(in, in_counts, in_offsets),
                                   numbered(out, out_counts, out_offsets));
  }

  /// An operation of length 0 sends nothing: libraries return at once, and the algorithms that SMPI
  /// has of Open MPI divide by the length.
  void bcast(int root, Bytes data) {
    if (!data.empty()) MpiMessages::bcast(root, data);
  }
  void reduce(int root, ConstBytes in, Bytes out) {
    if (!in.empty()) MpiMessages::reduce(root, in, out);
  }
  void allreduce(ConstBytes in, Bytes out) {
    if (!in.empty()) MpiMessages::allreduce(in, out);
  }

  /// Each rank tells all others that it is there: SMPI's own lets a rank go as soon as rank 0 has
  /// come.
  CollectiveRequest isynchronise() {
    presence_.resize(static_cast<std::size_t>(size()) + 1);
    return iallgather(ConstBytes(presence_).first(1), Bytes(presence_).subspan(1));
  }

  /// Returns the simulated node of this rank; hosts of one node with several ranks differ by a
  /// number.
  [[nodiscard]] std::string host() const {
    const auto name = simgrid::s4u::this_actor::get_host()->get_name();
    return name.substr(0, name.find('.'));
  }

 private:
  /// A byte of each rank, and before them this rank's.
  std::vector<std::byte> presence_;

  SimulatedTransport() : MpiMessages(false) { simulator::FoldedMemory::install(size()); }

  /// State of all ranks of the simulation.
  struct Team {
    explicit Team(int ranks)
        : barrier(simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks))),
          control({}, static_cast<std::size_t>(ranks)) {}

    simgrid::s4u::BarrierPtr barrier;
    Control<simulator::Actors> control;
  };
  [[nodiscard]] Team& team() const {
    static Team only(size());
    return only;
  }
};
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::SimulatedTransport);

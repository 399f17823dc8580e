// The calls of MPI of a program on the virtual network: they tell the network when the program
// computes, when it waits and for whom, and hold what it sends against what passed the network.
// The table of calls (calls/) makes every wrapper, as it makes those of the tracer.
#include <tuple>

#include "calls/fortran.hpp"
#include "fabric/guard/begun.hpp"
#include "fabric/roles.hpp"
#include "preloaded/entry.hpp"

NHALF_PRELOADED("fabric", "this program does not run on the virtual network", )

namespace nhalf::fabric {
namespace {
/// A call of the program while it lasts.
class Stay {
 public:
  Stay(const Interface& network, const preloaded::Caller& caller, const char* name, bool waits,
       const Partner& partner)
      : network_(network),
        is_outermost_(
            network.enter({caller, name, waits, partner.rank, partner.tag, partner.is_world})) {}
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  ~Stay() {
    if (is_outermost_) network_.exit();
  }

 private:
  const Interface& network_;
  bool is_outermost_;
};

/// Returns the other end that a call names itself, where its row in the table does not.
template <auto call, class Arguments>
Partner partner_of(const roles::Role& role, const Arguments& values) {
  using calls::Call;
  if constexpr (call == Call::Recv)
    return roles::partner(std::get<3>(values), std::get<4>(values), std::get<5>(values));
  else if constexpr (call == Call::Probe || call == Call::Mprobe || call == Call::Iprobe ||
                     call == Call::Improbe)
    return roles::partner(std::get<0>(values), std::get<1>(values), std::get<2>(values));
  else
    return role.partner;
}

/// Returns where a call puts the request that it makes, if that is its last argument.
template <class Arguments>
const MPI_Request* request_of(const Arguments& arguments) {
  constexpr auto number = std::tuple_size_v<Arguments>;
  if constexpr (number > 0) {
    using Last = std::remove_cvref_t<std::tuple_element_t<number - 1, Arguments>>;
    if constexpr (std::is_same_v<Last, MPI_Request*>) return std::get<number - 1>(arguments);
  }
  return nullptr;
}

/// Notes what a call has moved or begun, and ends the run if it bypassed the network.
template <auto call>
void note(const Interface& network, const roles::Role& role, const MPI_Request* request,
          const Passed& before) {
  constexpr const char* name = calls::name_of(call);
  if (role.prepared != nullptr) {
    note_begun(role, name, *role.prepared, before);
  } else if (role.has_reach) {
    if (role.reach.is_completed)
      check_accesses(network, role.reach);
    else
      note_access(role, before);
  } else if (role.ranks > 0 && !calls::can_wait(call)) {
    if (request != nullptr) note_begun(role, name, *request, before);
  } else {
    Guard::of_process().note(role.amount);
    Guard::check_operation(network, name, role.ranks, role.amount, before);
  }
}

/// Runs a call of the table.
template <auto call, class Run>
int stayed(const Interface& network, const preloaded::Caller& caller, const roles::Role& role,
           const Partner& partner, const MPI_Request* request, Run run) {
  constexpr const char* name = calls::name_of(call);
  if (role.refusal.reason != nullptr) network.stop(role.refusal.kind, role.refusal.reason);
  const Stay stay(network, caller, name, calls::can_wait(call), partner);
  const auto before = Passed::of(network);
  Completed completed(role);
  note_started(role.started, before);
  if (role.window_freed != nullptr) reached_windows().remove(*role.window_freed);
  const int error = run();
  if (error != MPI_SUCCESS) return error;
  completed.check(network);
  if (role.made != nullptr) latest_receives().note(*role.made, role.partner);
  note<call>(network, role, request, before);
  return error;
}

/// Calls of the library that are not in the table.
enum class Own { init, init_thread, finalize, abort, time, tick };

/// Begins virtual time, once the library is ready on all ranks.
void join(const Interface& network) {
  int ranks = 0;
  NHALF_OWN(Comm_size)(MPI_COMM_WORLD, &ranks);
  if (!network.is_here()) network.stop("unused", "the MPI library did not open the network");
  if (ranks != network.ranks()) network.stop("worlds", "the ranks are not in one MPI_COMM_WORLD");
  network.join();
  Guard::of_process().begin(network);
}
}  // namespace
}  // namespace nhalf::fabric

#define NHALF_WRAPPED(name, self_, arguments, ...)                                    \
  static int virtual_##name(NHALF_PARAMETERS arguments) {                             \
    using namespace nhalf::fabric;                                                    \
    using namespace nhalf::fabric::roles;                                             \
    constexpr Call self = Call::self_;                                                \
    auto* const then = nhalf::calls::next<self, decltype(PMPI_##name)>("MPI_" #name); \
    const Interface* const net = network();                                           \
    if (net == nullptr) return then arguments;                                        \
    const Caller on;                                                                  \
    const Role role = (__VA_ARGS__);                                                  \
    static_cast<void>(on);                                                            \
    const auto values = std::forward_as_tuple arguments;                              \
    const Partner partner = partner_of<self>(role, values);                           \
    return stayed<self>(*net, NHALF_CALLER, role, partner, request_of(values),        \
                        [&] { return then arguments; });                              \
  }                                                                                   \
  NHALF_ENTRY(MPI_##name, NHALF_AS(name, virtual_##name))

#include "calls/wrapped.inc"

static int virtual_Init(int* count, char*** words) {
  using namespace nhalf::fabric;
  auto* const then = nhalf::calls::next<Own::init, decltype(PMPI_Init)>("MPI_Init");
  const Interface* const net = network();
  if (net == nullptr) return then(count, words);
  const Stay stay(*net, NHALF_CALLER, "MPI_Init", true, {Doing::none, Doing::none, true});
  const int error = then(count, words);
  if (error == MPI_SUCCESS) join(*net);
  return error;
}
NHALF_ENTRY(MPI_Init, &virtual_Init)

static int virtual_Init_thread(int* count, char*** words, int required, int* provided) {
  using namespace nhalf::fabric;
  auto* const then =
      nhalf::calls::next<Own::init_thread, decltype(PMPI_Init_thread)>("MPI_Init_thread");
  const Interface* const net = network();
  if (net == nullptr) return then(count, words, required, provided);
  const Stay stay(*net, NHALF_CALLER, "MPI_Init_thread", true, {Doing::none, Doing::none, true});
  // Threads may call one after the other; the order of those that call at once is nobody's.
  const int error = then(count, words, std::min<int>(required, MPI_THREAD_SERIALIZED), provided);
  if (error == MPI_SUCCESS) join(*net);
  return error;
}
NHALF_ENTRY(MPI_Init_thread, &virtual_Init_thread)

static int virtual_Finalize() {
  using namespace nhalf::fabric;
  auto* const then = nhalf::calls::next<Own::finalize, decltype(PMPI_Finalize)>("MPI_Finalize");
  const Interface* const net = network();
  if (net == nullptr) return then();
  Guard::of_process().check_total(*net);
  net->finish();
  const Stay stay(*net, NHALF_CALLER, "MPI_Finalize", true, {Doing::none, Doing::none, true});
  const int error = then();
  net->leave();
  return error;
}
NHALF_ENTRY(MPI_Finalize, &virtual_Finalize)

/// Counts from the beginning of virtual time: libraries subtract a real time that they took before.
static double virtual_Wtime() {
  using namespace nhalf::fabric;
  const Interface* const net = network();
  if (net == nullptr) return nhalf::calls::next<Own::time, decltype(PMPI_Wtime)>("MPI_Wtime")();
  return static_cast<double>(net->clock()) * 1e-12;
}
NHALF_ENTRY(MPI_Wtime, &virtual_Wtime)

static double virtual_Wtick() {
  using namespace nhalf::fabric;
  if (network() == nullptr)
    return nhalf::calls::next<Own::tick, decltype(PMPI_Wtick)>("MPI_Wtick")();
  return 1e-12;
}
NHALF_ENTRY(MPI_Wtick, &virtual_Wtick)

/// The launcher would end all ranks, in many words; the network does it in one line.
static int virtual_Abort(MPI_Comm comm, int code) {
  using namespace nhalf::fabric;
  if (const Interface* const net = network(); net != nullptr) {
    std::array<char, 64> reason{};
    std::snprintf(reason.data(), reason.size(), "rank %d called MPI_Abort with code %d",
                  net->number(), code);
    net->stop("abort", reason.data());
  }
  return nhalf::calls::next<Own::abort, decltype(PMPI_Abort)>("MPI_Abort")(comm, code);
}
NHALF_ENTRY(MPI_Abort, &virtual_Abort)

#if defined(OPEN_MPI)

// Entry points of Fortran programs that calls/fortran.hpp does not have: the clock and the end.
static void fortran_abort(MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
  using namespace nhalf::calls::fortran;
  const int result = MPI_Abort(handle(static_cast<MPI_Comm*>(nullptr), *comm), *code);
  nhalf::calls::fortran::answer(error, result);
}

NHALF_ENTRY(mpi_abort_, &fortran_abort)
NHALF_ENTRY(mpi_abort_f08_, &fortran_abort)
NHALF_ENTRY(mpi_wtime_, &virtual_Wtime)
NHALF_ENTRY(mpi_wtime_f08_, &virtual_Wtime)
NHALF_ENTRY(mpi_wtick_, &virtual_Wtick)
NHALF_ENTRY(mpi_wtick_f08_, &virtual_Wtick)

#endif

/// Calls that cannot be served in virtual time: their library waits outside the network for ever.
enum class Refused { Comm_spawn, Comm_spawn_multiple, Comm_accept, Comm_connect, Comm_join };

/// Ends a run on the network at a call; the call itself is made by other processes only.
#define NHALF_REFUSED(name)                                                                      \
  template <class... Arguments>                                                                  \
  static int refused_##name(Arguments... arguments) {                                            \
    if (const auto* const net = nhalf::fabric::network(); net != nullptr)                        \
      net->stop("unsupported", "MPI_" #name " is not supported");                                \
    return nhalf::calls::next<Refused::name, decltype(PMPI_##name)>("MPI_" #name)(arguments...); \
  }                                                                                              \
  NHALF_ENTRY(MPI_##name, NHALF_AS(name, refused_##name))

NHALF_REFUSED(Comm_spawn)
NHALF_REFUSED(Comm_spawn_multiple)
NHALF_REFUSED(Comm_accept)
NHALF_REFUSED(Comm_connect)
NHALF_REFUSED(Comm_join)

#undef NHALF_REFUSED

// They call those above.
#include "calls/profiled.hpp"

// The collective calls of a program; this library is loaded before the program's own MPI library.

#include "interposer/collective_calls.hpp"
#include "preloaded/entry.hpp"
#include "trace/collective_counters.hpp"

// Weak references to MPI: this library needs no particular one, since it is loaded into programs of
// any MPI library, and into shells and other programs without one.
#pragma weak PMPI_Initialized

#define NHALF_PRAGMA(text) _Pragma(#text)
#define NHALF_WEAK(a, b, c, d, e) \
  NHALF_PRAGMA(weak PMPI_##a)     \
  NHALF_PRAGMA(weak PMPI_##b)     \
  NHALF_PRAGMA(weak PMPI_##c) NHALF_PRAGMA(weak PMPI_##d) NHALF_PRAGMA(weak PMPI_##e)

NHALF_WEAK(Allgather, Allgather_c, Allreduce, Allreduce_c, Alltoall)
NHALF_WEAK(Alltoall_c, Barrier, Bcast, Bcast_c, Comm_call_errhandler)
NHALF_WEAK(Comm_f2c, Comm_create_keyval, Comm_free, Comm_get_attr, Comm_get_errhandler)
NHALF_WEAK(Comm_group, Comm_rank, Comm_set_attr, Comm_set_errhandler, Comm_size)
NHALF_WEAK(Comm_split, Comm_test_inter, Errhandler_free, Finalize, Finalized)
NHALF_WEAK(Gather, Gather_c, Get_library_version, Group_free, Group_size)
NHALF_WEAK(Group_translate_ranks, Iprobe, Irecv, Is_thread_main, Isend)
NHALF_WEAK(Op_commutative, Op_f2c, Pack, Query_thread, Recv)
NHALF_WEAK(Reduce, Reduce_c, Reduce_local, Reduce_scatter_block, Reduce_scatter_block_c)
NHALF_WEAK(Scan, Scan_c, Scatter, Scatter_c, Send)
NHALF_WEAK(Sendrecv, Type_create_keyval, Type_f2c, Type_free, Type_get_attr)
NHALF_WEAK(Type_get_contents, Type_get_envelope, Type_get_extent, Type_get_true_extent,
           Type_set_attr)
NHALF_WEAK(Type_size_x, Unpack, Wait, Waitall, Waitany)

#undef NHALF_WEAK
#undef NHALF_PRAGMA

namespace nhalf::coll {

/// Revokes a communicator. Ranks that wait for this one in shared memory notice it by their probes;
/// ranks that wait in messages use a separate communicator, which is revoked as well.
inline int revoke(MPI_Comm comm) {
  using Revoke = int (*)(MPI_Comm);
  static const auto library = reinterpret_cast<Revoke>(preloaded::in_mpi("PMPIX_Comm_revoke"));
  if (library == nullptr) return MPI_ERR_OTHER;
  if (Communicator* on = Communicator::of(comm)) {
    on->leave();
    if (on->has_messages()) static_cast<void>(library(on->messages()->comm()));
  }
  return library(comm);
}

/// Tells what was learned, beside what operations of all ranks take at least; collective.
inline void report_lessons(int rank) {
  Communicator* world = Communicator::of(MPI_COMM_WORLD);
  const auto floor = world == nullptr ? std::nullopt : world->floor();
  if (rank != 0) return;
  if (floor) std::fputs(floor->text().c_str(), stderr);
  std::fputs(Lessons::text(floor.value_or(Floor())).c_str(), stderr);
}

/// The counters of a program that is watched; null of others.
static constinit trace::CollectiveCounters* counters = nullptr;

/// The number of an operation and way in these counters.
static int number_of(Operation operation, int way_number) {
  return static_cast<int>(index_of(operation)) * ways_max + way_number;
}

/// Returns the names of all operations and ways by their numbers.
static std::vector<std::string> counted_names() {
  std::vector<std::string> names(operation_names.size() * ways_max);
  for (std::size_t i = 0; i < operation_names.size(); ++i) {
    const auto operation = static_cast<Operation>(i);
    const auto algorithms = with_algorithms(operation, [](const auto& all) { return all.size(); });
    const int ways = std::min(ways_max, way::first_algorithm + static_cast<int>(algorithms));
    for (int number = 0; number < ways; ++number)
      names[static_cast<std::size_t>(number_of(operation, number))] =
          std::string(operation_names[i]) + " " + name_of(operation, number);
  }
  return names;
}

/// Makes the files of a program that is to be watched, once its ranks are known.
static void count_from_now_on(trace::Identity& identity, const char* folder, int thread_level) {
  if (counters != nullptr) return;
  trace::threads_may_collide = thread_level >= MPI_THREAD_MULTIPLE;
  trace::CollectiveCounters::Rank rank{0, 1, counted_names()};
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &rank.size);
  counters = trace::CollectiveCounters::made(identity, folder, rank, &Lessons::saved_s).release();
}

/// Calls MPI_Init or MPI_Init_thread, whose call of the library is `init`. What counting needs is
/// done for programs that are watched alone.
template <class Init>
static int begin(Init init) {
  const char* folder = std::getenv("NHALF_COLL_COUNTERS");
  if (folder == nullptr || *folder == '\0') return init();
  static auto* const identity = new trace::Identity;
  trace::choose_clock();
  identity->begin();
  const int error = init();
  int thread_level = MPI_THREAD_SINGLE;
  if (error != MPI_SUCCESS) return error;
  PMPI_Query_thread(&thread_level);
  count_from_now_on(*identity, folder, thread_level);
  return error;
}

/// Runs a collective call, and counts it if the program is watched.
template <class Called>
static int counted(Operation operation, Called called) {
  if (counters == nullptr) [[likely]]
    return called();
  present_call = PresentCall{};
  const auto begin = trace::now();
  const int error = called();
  const auto [way_number, size_bytes] = present_call;
  counters->add(number_of(operation, way_number), size_bytes, begin, trace::now());
  return error;
}

/// Reports the counts, and finalizes the next tool or the library, which releases what is left.
inline int finalize() {
  int is_initialized = 0;
  int rank = 0;
  PMPI_Initialized(&is_initialized);
  if (is_initialized != 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Counts::of_process().report(rank);
  if (is_initialized != 0 && Counts::are_wanted()) report_lessons(rank);
  if (rank == 0)
    std::fputs(Lessons::keep(lessons_of_process(), Counts::are_wanted()).c_str(), stderr);
  if (counters != nullptr) counters->finish();
  Communicator::end();
  auto* const then = reinterpret_cast<decltype(&PMPI_Finalize)>(preloaded::behind("MPI_Finalize"));
  const int error = then();
  RollCall::of_process().leave();
  return error;
}

}  // namespace nhalf::coll

/// A call of the program with the types of the library's own function, where this library serves
/// it.
#define NHALF_ROUTED(name, function) \
  NHALF_ENTRY(MPI_##name, static_cast<decltype(&PMPI_##name)>(&function))

/// A collective call: routed with its arguments, and with the call of the library behind them.
#define NHALF_COLLECTIVE(name, operation)                                                     \
  template <class... Arguments>                                                               \
  static int routed_##name(Arguments... arguments) {                                          \
    return nhalf::coll::counted(nhalf::coll::Operation::operation, [=] {                      \
      return nhalf::coll::operation(arguments..., [=] { return PMPI_##name(arguments...); }); \
    });                                                                                       \
  }                                                                                           \
  NHALF_ROUTED(name, routed_##name)

NHALF_PRELOADED("collectives", "collectives are the library's own",
                nhalf::preloaded::open_library_to_all())

// Runs while the process has one thread, since every thread reads the choice.
[[gnu::constructor]] static void choose_memory() {
  nhalf::coll::take_any_memory();
}

static int routed_Init(int* count, char*** words) {
  using namespace nhalf::coll;
  return begin([&] { return among_all<decltype(PMPI_Init)>("MPI_Init", count, words); });
}
NHALF_ROUTED(Init, routed_Init)

static int routed_Init_thread(int* count, char*** words, int required, int* provided) {
  using namespace nhalf::coll;
  return begin([&] {
    return among_all<decltype(PMPI_Init_thread)>("MPI_Init_thread", count, words, required,
                                                 provided);
  });
}
NHALF_ROUTED(Init_thread, routed_Init_thread)

NHALF_COLLECTIVE(Allgather, allgather)
NHALF_COLLECTIVE(Allreduce, allreduce)
NHALF_COLLECTIVE(Alltoall, alltoall)
NHALF_COLLECTIVE(Barrier, barrier)
NHALF_COLLECTIVE(Bcast, bcast)
NHALF_COLLECTIVE(Gather, gather)
NHALF_COLLECTIVE(Reduce, reduce)
NHALF_COLLECTIVE(Reduce_scatter_block, reduce_scatter)
NHALF_COLLECTIVE(Scan, scan)
NHALF_COLLECTIVE(Scatter, scatter)

#if MPI_VERSION >= 4
NHALF_COLLECTIVE(Allgather_c, allgather)
NHALF_COLLECTIVE(Allreduce_c, allreduce)
NHALF_COLLECTIVE(Alltoall_c, alltoall)
NHALF_COLLECTIVE(Bcast_c, bcast)
NHALF_COLLECTIVE(Gather_c, gather)
NHALF_COLLECTIVE(Reduce_c, reduce)
NHALF_COLLECTIVE(Reduce_scatter_block_c, reduce_scatter)
NHALF_COLLECTIVE(Scan_c, scan)
NHALF_COLLECTIVE(Scatter_c, scatter)
#endif

// Revoke is not part of the standard; it ends the messages below collectives as well.
NHALF_ENTRY(MPIX_Comm_revoke, &nhalf::coll::revoke)

NHALF_ROUTED(Finalize, nhalf::coll::finalize)

// Entry points of Fortran programs. MPICH and its relatives implement them on the calls for C,
// which are routed. Open MPI bypasses these, so its entry points are routed here: the names of
// mpif.h and the module mpi, and the names of mpi_f08, whose last argument may be absent.
#if defined(OPEN_MPI)
#include "calls/fortran_arguments.hpp"

#define NHALF_ROUTED_FORTRAN(lower, function) \
  NHALF_FORTRAN(lower, ([](Arguments& values) { by_type(&function, values); }))

NHALF_FORTRAN(init, init)
NHALF_ROUTED_FORTRAN(init_thread, init_thread)
NHALF_ROUTED_FORTRAN(allgather, MPI_Allgather)
NHALF_ROUTED_FORTRAN(allreduce, MPI_Allreduce)
NHALF_ROUTED_FORTRAN(alltoall, MPI_Alltoall)
NHALF_ROUTED_FORTRAN(barrier, MPI_Barrier)
NHALF_ROUTED_FORTRAN(bcast, MPI_Bcast)
NHALF_ROUTED_FORTRAN(gather, MPI_Gather)
NHALF_ROUTED_FORTRAN(reduce, MPI_Reduce)
NHALF_ROUTED_FORTRAN(reduce_scatter_block, MPI_Reduce_scatter_block)
NHALF_ROUTED_FORTRAN(scan, MPI_Scan)
NHALF_ROUTED_FORTRAN(scatter, MPI_Scatter)
NHALF_ROUTED_FORTRAN(finalize, MPI_Finalize)
#endif

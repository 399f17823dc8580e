// Collective operations as a transport may have them: at once, begun and waited for, with counts,
// prepared, among neighbours; and groups of ranks that have them.
#pragma once

#include "contract/transport.hpp"

namespace nhalf {
/// Byte counts or offsets, one per rank.
using PerRank = std::span<const int>;

/// Operations of all ranks, which every rank calls in the same order.
///
/// Blocks are of one size for all ranks and lie in the order of ranks. Where a rank gives one block
/// per rank, or gets one, its buffer holds size() of them: `in` of scatter, alltoall and
/// reduce_scatter, `out` of gather, allgather and alltoall. Ranks that are not the root need no
/// `in` in scatter and no `out` in gather and reduce. In place means that `in` lies where its
/// result, or its own block of the result, is going to be in `out`; the first block of `in` is
/// `out` for reduce_scatter in place. Otherwise `in` and `out` do not overlap.
///
/// reduce, allreduce, reduce_scatter and scan add floats, unless the transport has been told of
/// something else (contract/reduction.hpp). `alltoallv` takes counts and offsets in
/// bytes; an empty block sends nothing where the transport has the choice. `synchronise` is the
/// barrier under test, whereas `barrier` serves control.
template <class T>
concept Collectives = Transport<T> && requires(T& transport, int root, ConstBytes in, Bytes out,
                                               PerRank counts, PerRank offsets) {
#define NHALF_EQUAL(operation, ...) transport.operation(__VA_ARGS__);
#include "contract/operations.inc"
};

/// Collective operations started with one call and finished with another; the buffers, counts and
/// offsets stay as they are until then. `test` gives the operation a chance to go on and says
/// whether it is done; `wait` ends it.
template <class T>
concept NonBlockingCollectives =
    Collectives<T> && requires(T& transport, int root, ConstBytes in, Bytes out, PerRank counts,
                               PerRank offsets, typename T::CollectiveRequest& request) {
#define NHALF_EQUAL(operation, ...)                                    \
  requires std::same_as<decltype(transport.i##operation(__VA_ARGS__)), \
                        typename T::CollectiveRequest>;
#include "contract/operations.inc"
      { transport.test(request) } -> std::same_as<bool>;
      transport.wait(request);
    };

/// The operations with a count, and an offset, per rank: in bytes, but for `reduce_scatterv`, whose
/// counts are in elements. `alltoallw` has a type per rank besides, all of them bytes here. What is
/// said of Collectives holds otherwise.
template <class T>
concept VaryingCollectives =
    Collectives<T> &&
    requires(T& transport, int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
#define NHALF_VARYING(operation, ...) transport.operation(__VA_ARGS__);
#include "contract/operations.inc"
    };

/// Operations with varying counts, started with one call and finished with another.
template <class T>
concept NonBlockingVaryingCollectives =
    VaryingCollectives<T> && NonBlockingCollectives<T> &&
    requires(T& transport, int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
#define NHALF_VARYING(operation, ...)                                  \
  requires std::same_as<decltype(transport.i##operation(__VA_ARGS__)), \
                        typename T::CollectiveRequest>;
#include "contract/operations.inc"
    };

/// What every rank prepares in the same order, starts, waits for and in the end releases; buffers
/// and counts stay where they are in between. Arguments are those of the blocking operations.
template <class T>
concept PersistentCollectives =
    NonBlockingVaryingCollectives<T> &&
    requires(T& transport, int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets,
             typename T::CollectiveRequest& request) {
#define NHALF_EQUAL(operation, ...)                                           \
  requires std::same_as<decltype(transport.prepare_##operation(__VA_ARGS__)), \
                        typename T::CollectiveRequest>;
#define NHALF_VARYING NHALF_EQUAL
#include "contract/operations.inc"
      transport.start(request);
      transport.release(request);
    };

/// Who is whose neighbour: on a grid that is closed in all directions, of this many dimensions, or
/// by a list, those up to this far away on either side.
enum class NeighbourTopology { cartesian, graph };

/// Offsets of alltoallw among neighbours, in bytes.
using WideOffsets = std::span<const std::ptrdiff_t>;

/// `neighbourhood` and `leave` are called by all ranks. Blocks lie in the order of `destinations()`
/// in what is given and of `sources()` in what is got; a rank may be there more than once, and be
/// its own neighbour. Counts and offsets are in bytes.
template <class T>
concept Neighbourhoods =
    NonBlockingCollectives<T> &&
    requires(T& transport, typename T::Neighbourhood& among, ConstBytes in, Bytes out,
             PerRank counts, PerRank offsets, WideOffsets wide_offsets) {
      {
        transport.neighbourhood(NeighbourTopology{}, int{})
      } -> std::same_as<typename T::Neighbourhood>;
      { among.sources() } -> std::same_as<std::span<const int>>;
      { among.destinations() } -> std::same_as<std::span<const int>>;
#define NHALF_NEIGHBOUR(operation, ...)                                \
  transport.operation(__VA_ARGS__);                                    \
  requires std::same_as<decltype(transport.i##operation(__VA_ARGS__)), \
                        typename T::CollectiveRequest>;
#include "contract/operations.inc"
      transport.leave(among);
    };

/// Groups of ranks that are made, by all ranks together, and given up again: of the same ranks
/// (`duplicate`), and of every other rank (`split`).
template <class T>
concept Communicators = Collectives<T> && requires(T& transport) {
  transport.duplicate();
  transport.split();
};

/// Seconds of two messages to a rank, one after the other, each until its answer.
struct RoundTrips {
  double first_s = -1;
  double second_s = -1;

  /// Measures them at rank 0, by `clock_s`; `send` and `recv` move a byte between two ranks.
  template <class Clock, class Send, class Recv>
  static RoundTrips of(int rank, int partner, Clock clock_s, Send send, Recv recv) {
    RoundTrips trips;
    for (double* trip_s : {&trips.first_s, &trips.second_s}) {
      if (rank == 0) {
        const double began_s = clock_s();
        send(partner);
        recv(partner);
        *trip_s = clock_s() - began_s;
      } else if (rank == partner) {
        recv(0);
        send(0);
      }
    }
    return trips;
  }
};

/// Seconds that this rank's library took to start, and rank 0's launch until then, from the call of
/// the launcher; below 0 where that is not known. And those that it took to end, once it has.
template <class T>
concept StartUp = Transport<T> && requires(T& transport) {
  { transport.initialised_s() } -> std::same_as<double>;
  { transport.launched_s() } -> std::same_as<double>;
  { T::finalised_s() } -> std::same_as<double>;
};

/// Seconds of a session at this rank: until it knows the ranks there are, until they have a
/// communicator, and of its end.
struct SessionTimes {
  double initialised_s = 0;
  double communicator_s = 0;
  double finalised_s = 0;
  /// Whether that communicator was of all ranks.
  bool is_right = false;
};

/// Ranks that can start the library once more beside what runs already; all of them call it.
template <class T>
concept Sessions = Transport<T> && requires(T& transport) {
  { transport.session() } -> std::same_as<SessionTimes>;
};

/// What the first two messages to a rank that was never written to before, and their answers, took
/// at rank 0; all ranks ask. Below 0 where the transport was not told to time them.
template <class T>
concept FirstMessages = Transport<T> && requires(T& transport, int partner) {
  { transport.first_messages(partner) } -> std::same_as<RoundTrips>;
};
}  // namespace nhalf

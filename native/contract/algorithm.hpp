// What an algorithm of a collective operation says of itself, and the list of them per operation.
#pragma once

#include "contract/buffer.hpp"

namespace nhalf {
/// The parameters of a LogGP machine, by which costs are stated; for n bytes.
struct LogGP {
  double o_s, o_r, g, L, G;

  /// One message, from the call of its send to the end of its receive.
  [[nodiscard]] constexpr double one_s(double n) const { return o_s + n * G + L + o_r; }
  /// From one send to the next of the same rank, and the same for receives.
  [[nodiscard]] constexpr double sends_apart_s(double n) const { return std::max(o_s, g + n * G); }
  [[nodiscard]] constexpr double receives_apart_s(double n) const {
    return std::max(o_r, g + n * G);
  }
};

/// A cost in seconds; none where the closed formula does not hold exactly.
using Seconds = std::optional<double>;

/// What an algorithm says of itself.
///
/// Both formulas take the number of ranks and n: the bytes of the message (bcast), of the vector
/// (reduce, allreduce, scan) or of one block (all others). `messages` counts those of all ranks.
/// `time_s` is from a common start to the last end, for 2 ranks or more, with g <= o_s + L + o_r;
/// `time_at_most_s` is a bound on it for those that have no closed formula.
///
/// `cost` composes the time from parts that can be measured on any machine, in the syntax of
/// Python, for p = 2 ranks or more and n bytes. T(x) is one message of x bytes; M(x, q) what q more
/// messages of x bytes take that one rank sends, and R(x, q) those that it receives; B are the 8192
/// bytes of a part. Messages of several sizes that follow one another count with their mean. Where
/// nothing else is known the expression is the bound.
struct AlgorithmInfo {
  std::string_view name;
  std::string_view what;
  std::string_view source;
  std::string_view cost = {};
  std::int64_t (*messages)(int ranks, std::size_t size_bytes);
  Seconds (*time_s)(const LogGP& machine, int ranks, double size_bytes) = nullptr;
  Seconds (*time_at_most_s)(const LogGP& machine, int ranks, double size_bytes) = nullptr;
  /// Reductions: terms are combined in the order of ranks, as operations that do not commute need.
  bool keeps_order = false;
};

/// An algorithm of a pattern, whether or not the transport can run it.
struct AlgorithmEntry {
  AlgorithmInfo info;
  bool present = false;
};

/// The number of doublings from 1 to at least p: ceil(log2 p).
constexpr int doublings(int p) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1)));
}

constexpr bool is_power_of_two(int p) {
  return std::has_single_bit(static_cast<unsigned>(p));
}

/// A cost that is exact for 2^k ranks only.
constexpr Seconds for_powers_of_two(int p, double time_s) {
  return is_power_of_two(p) ? Seconds(time_s) : std::nullopt;
}

/// The bytes of a part, for functions that take them and for no other number.
struct PartBytes {
  std::size_t size_bytes;
  template <std::same_as<std::size_t> Number>
  operator Number() const {  // NOLINT: an argument like any other
    return size_bytes;
  }
};

/// An algorithm as transport T runs it; `run` is null where T lacks what it needs, `run_in_parts`,
/// which takes the bytes of a part besides, where the algorithm does not cut messages, too.
template <class T, class Signature>
struct Algorithm;
template <class T, class... Arguments>
struct Algorithm<T, void(Arguments...)> {
  AlgorithmInfo info;
  void (*run)(T& transport, Scratch& scratch, Arguments... arguments) = nullptr;
  void (*run_in_parts)(T& transport, Arguments... arguments, std::size_t part_bytes) = nullptr;

  /// Function takes the transport, scratch memory if it needs any, and the arguments.
  template <class Function>
  Algorithm(const AlgorithmInfo& description, Function) : info(description) {
    // A transport may leave no choice: then none is compiled.
    if constexpr (!requires { requires T::has_own_operations_only; }) take<Function>();
  }

 private:
  template <class Function>
  void take() {
    if constexpr (std::invocable<Function, T&, Scratch&, Arguments...>)
      run = [](T& t, Scratch& s, Arguments... values) { Function{}(t, s, values...); };
    else if constexpr (std::invocable<Function, T&, Arguments...>)
      run = [](T& t, Scratch&, Arguments... values) { Function{}(t, values...); };
    if constexpr (std::invocable<Function, T&, Arguments..., PartBytes>)
      run_in_parts = [](T& t, Arguments... values, std::size_t part_bytes) {
        Function{}(t, values..., PartBytes{part_bytes});
      };
  }
};

/// What every algorithm of an operation is called with. In place is as in contract/collectives.hpp.
namespace algorithms {
// clang-format off
namespace barrier { using Signature = void(); }
namespace bcast { using Signature = void(int root, Bytes data); }
namespace reduce { using Signature = void(int root, ConstBytes in, Bytes out); }
namespace gather { using Signature = void(int root, ConstBytes in, Bytes out); }
namespace scatter { using Signature = void(int root, ConstBytes in, Bytes out); }
namespace allreduce { using Signature = void(ConstBytes in, Bytes out); }
namespace allgather { using Signature = void(ConstBytes in, Bytes out); }
namespace alltoall { using Signature = void(ConstBytes in, Bytes out); }
namespace reduce_scatter { using Signature = void(ConstBytes in, Bytes out); }
namespace scan { using Signature = void(ConstBytes in, Bytes out); }
// clang-format on

/// Publications that several algorithms are from.
namespace sources {
inline constexpr std::string_view thakur =
    "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
    "Operations in MPICH, IJHPCA 19(1), 2005";
inline constexpr std::string_view mellor_crummey =
    "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on Shared-Memory "
    "Multiprocessors, ACM TOCS 9(1), 1991";
inline constexpr std::string_view mellor_crummey_centralised =
    "J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on Shared-Memory "
    "Multiprocessors, ACM TOCS 9(1), 1991: the centralised barrier";
inline constexpr std::string_view hensgen =
    "D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, "
    "International Journal of Parallel Programming 17(1), 1988";
inline constexpr std::string_view pjesivac =
    "J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. Fagg, E. Gabriel, J. Dongarra, "
    "Performance Analysis of MPI Collective Operations, Cluster Computing 10(2), 2007";
inline constexpr std::string_view bruck =
    "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for "
    "All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997";
inline constexpr std::string_view rabenseifner =
    "R. Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004";
inline constexpr std::string_view patarasuk =
    "P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of "
    "Workstations, Journal of Parallel and Distributed Computing 69(2), 2009";
inline constexpr std::string_view alexandrov_sender =
    "A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long Messages "
    "into the LogP Model, SPAA 1995: one sender, several messages";
inline constexpr std::string_view alexandrov_receiver =
    "A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long Messages "
    "into the LogP Model, SPAA 1995: one receiver, several messages";
}  // namespace sources
}  // namespace algorithms
}  // namespace nhalf

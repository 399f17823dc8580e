// Memory that a rank exposes to others: windows of MPI, and the steps of its life.
#pragma once

#include "contract/transport.hpp"

namespace nhalf {
/// Where the memory of a window comes from: the library, the program, the program later on, or the
/// library as memory that all ranks of a host can reach.
enum class WindowKind { allocate, create, dynamic, shared };
inline constexpr std::array<std::string_view, 4> window_kinds{"allocate", "create", "dynamic",
                                                              "shared"};

/// What begins and ends an access. `flush` and `flush_local` have locked all ranks before, `lock`
/// and `lock_all` do it each time; the targets take part in `fence` and in `pscw` (post, start,
/// complete, wait) only.
enum class WindowAccess { flush, flush_local, lock, lock_all, fence, pscw };
inline constexpr std::array<std::string_view, 6> window_accesses{"flush",    "flush-local", "lock",
                                                                 "lock-all", "fence",       "pscw"};

/// Memory of each rank that others read and change, in accesses that begin and end.
///
/// `open_window` and `close_window` are called by all ranks, the former with the ranks that this
/// one is going to access and those that will access it; offsets are in bytes. Every rank of an
/// access calls `begin` and `end`; `complete` ends what flush-local left. `accumulate` and
/// `get_accumulate` add floats; `fetch_and_add` and `compare_and_swap` are on one 64-bit number.
template <class T>
concept OpensWindows =
    Transport<T> && requires(T& transport, typename T::Window& window, WindowKind kind,
                             WindowAccess access, std::span<const int> ranks) {
      {
        transport.open_window(std::size_t{}, kind, access, ranks, ranks)
      } -> std::same_as<typename T::Window>;
      { window.local() } -> std::same_as<Bytes>;
      transport.begin(window);
      transport.end(window);
      transport.complete(window);
      transport.close_window(window);
    };
template <class T>
concept Windows =
    OpensWindows<T> && requires(T& transport, typename T::Window& window, int peer, ConstBytes out,
                                Bytes in, std::int64_t value, std::int64_t& got) {
      transport.put(window, peer, std::size_t{}, out);
      transport.get(window, peer, std::size_t{}, in);
      transport.accumulate(window, peer, std::size_t{}, out);
      transport.get_accumulate(window, peer, std::size_t{}, out, in);
      transport.fetch_and_add(window, peer, std::size_t{}, value, got);
      transport.compare_and_swap(window, peer, std::size_t{}, value, value, got);
    };

/// What is done in the life of exposed memory, in this order; a transport has some of these steps.
/// The first five set it up, the last three tear it down.
enum class Step : unsigned char {
  create,
  enlist,
  publish,
  connect,
  map,
  put,
  get,
  fence,
  signal,
  disconnect,
  unmap,
  destroy
};

inline constexpr std::array<std::string_view, 12> step_names{
    "create", "register", "publish", "connect",    "map",   "put",
    "get",    "fence",    "signal",  "disconnect", "unmap", "destroy"};

/// All of them, as the values of an axis.
inline constexpr std::string_view all_steps =
    "create,register,publish,connect,map,put,get,fence,signal,disconnect,unmap,destroy";

/// Goes once through the life of a new segment of rank 0, as large as what is put and got, in which
/// rank 1 puts `out` and from which it gets `in`. All ranks call it. `timed(step, call)` is given
/// what this rank does of each step, and calls it; what ranks wait for each other is left out.
/// `steps` are those that there are, as the values of an axis.
template <class T>
concept SegmentLife = Transport<T> && requires(T& transport, ConstBytes out, Bytes in) {
  { T::steps } -> std::convertible_to<std::string_view>;
  transport.segment_life(out, in, [](Step, auto call) { call(); });
};
}  // namespace nhalf

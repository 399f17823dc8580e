// Several threads of a rank that communicate at the same time.
#pragma once

#include <concepts>

#include "contract/transport.hpp"

namespace nhalf {

/// What one thread sends and receives by: every rank makes the same ones in the same order. Those
/// that are `own` share nothing with other threads' where the transport can keep them apart.
/// `is_thread_multiple` tells whether it was started for several threads at all.
template <class T>
concept ThreadMultiple =
    NonBlocking<T> &&
    requires(T& transport, typename T::ThreadChannel& channel, int peer, ConstBytes out, Bytes in) {
      { transport.is_thread_multiple() } -> std::same_as<bool>;
      { transport.thread_channel(int{}, bool{}) } -> std::same_as<typename T::ThreadChannel>;
      transport.send(channel, peer, out);
      transport.recv(channel, peer, in);
      transport.exchange(channel, peer, out, peer, in);
      { transport.isend(channel, peer, out) } -> std::same_as<typename T::Request>;
      transport.close(channel);
    };

/// Collective operations by a channel of the thread's own, at the same time as other threads' are.
/// Sums are of floats.
template <class T>
concept ThreadCollectives =
    ThreadMultiple<T> &&
    requires(T& transport, typename T::ThreadChannel& channel, int root, ConstBytes in, Bytes out) {
      transport.synchronise(channel);
      transport.bcast(channel, root, out);
      transport.reduce(channel, root, in, out);
      transport.allreduce(channel, in, out);
    };

}  // namespace nhalf

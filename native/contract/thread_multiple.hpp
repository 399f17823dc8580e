// SPDX-License-Identifier: Apache-2.0
// Several threads of a rank that communicate at the same time.
#pragma once

#include <concepts>

#include "contract/transport.hpp"

namespace nhalf {

/// What one thread sends and receives by: every rank makes the same ones in the same order. Those
/// that are `own` share nothing with other threads' where the transport can keep them apart.
/// `is_thread_multiple` tells whether it was started for several threads at all.
template <class T>
concept ThreadMultiple = Transport<T> && requires(T& transport, typename T::ThreadChannel& channel,
                                                  int peer, ConstBytes out, Bytes in) {
  { transport.is_thread_multiple() } -> std::same_as<bool>;
  { transport.thread_channel(int{}, bool{}) } -> std::same_as<typename T::ThreadChannel>;
  transport.send(channel, peer, out);
  transport.recv(channel, peer, in);
  transport.close(channel);
};

}  // namespace nhalf

// Messages that are set up once and sent again and again.
#pragma once

#include <concepts>
#include <span>

#include "contract/transport.hpp"

namespace nhalf {

/// Sends and receives that are prepared once, started as often as one likes, and released.
///
/// A prepared message is a Request like any other: `wait` ends what `start` began, and it can be
/// started again afterwards. `start_all` starts several in one call.
template <class T>
concept Persistent = NonBlocking<T> && requires(T& transport, int peer, ConstBytes out, Bytes in,
                                                typename T::Request& request,
                                                std::span<typename T::Request> several) {
  { transport.prepare_send(peer, out) } -> std::same_as<typename T::Request>;
  { transport.prepare_recv(peer, in) } -> std::same_as<typename T::Request>;
  transport.start(request);
  transport.start_all(several);
  transport.release(request);
};

}  // namespace nhalf

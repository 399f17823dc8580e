// Messages whose parts become ready one after the other.
#pragma once

#include <concepts>

#include "contract/persistent.hpp"

namespace nhalf {

/// A prepared message of equal parts: after `start` each part of a send leaves when it is `ready`,
/// in any order; `wait` ends the whole. Sizes are multiples of the number of parts.
template <class T>
concept Partitioned = Persistent<T> && requires(T& transport, int peer, ConstBytes out, Bytes in,
                                                int parts, typename T::Request& request) {
  { transport.prepare_parts_send(peer, out, parts) } -> std::same_as<typename T::Request>;
  { transport.prepare_parts_recv(peer, in, parts) } -> std::same_as<typename T::Request>;
  transport.ready(request, parts);
};

}  // namespace nhalf

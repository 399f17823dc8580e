// Messages that are received from whoever sends first.
#pragma once

#include <concepts>

#include "contract/transport.hpp"

namespace nhalf {

/// Receives a message from any rank, and tells from which.
template <class T>
concept AnySource = Transport<T> && requires(T& transport, Bytes in) {
  { transport.recv_any(in) } -> std::same_as<int>;
};

}  // namespace nhalf

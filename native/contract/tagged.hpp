// Messages with tags, by which a receive chooses among those of a rank.
#pragma once

#include <concepts>

#include "contract/transport.hpp"

namespace nhalf {

/// A receive that takes a message from any rank, or with any tag.
inline constexpr int any_rank = -1;
inline constexpr int any_tag = -1;

/// Tags are whole numbers from 0 on. Of the messages that a receive accepts it takes the one that
/// came first; a message goes to the receive that was started first of those that accept it.
/// Messages without a tag are no part of that.
template <class T>
concept Tagged =
    NonBlocking<T> && requires(T& transport, int peer, int tag, ConstBytes out, Bytes in) {
      { transport.isend_tagged(peer, tag, out) } -> std::same_as<typename T::Request>;
      { transport.irecv_tagged(peer, tag, in) } -> std::same_as<typename T::Request>;
      transport.recv_tagged(peer, tag, in);
    };

}  // namespace nhalf

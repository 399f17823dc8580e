// Collective operations that are set up once and started again and again.
#pragma once

#include <concepts>

#include "contract/varying.hpp"

namespace nhalf {

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

}  // namespace nhalf

// SPDX-License-Identifier: Apache-2.0
// Collective operations that are set up once and started again and again.
#pragma once

#include <concepts>

#include "contract/varying.hpp"

namespace nhalf {

/// What every rank prepares in the same order, starts, waits for and in the end releases; buffers
/// and counts stay where they are in between. Arguments are those of the blocking operations.
template <class T>
concept PersistentCollectives = NonBlockingVaryingCollectives<T> &&
                                requires(T& transport, int root, ConstBytes in, Bytes out,
                                         PerRank each, typename T::CollectiveRequest& request) {
                                  {
                                    transport.prepare_bcast(root, out)
                                  } -> std::same_as<typename T::CollectiveRequest>;
                                  {
                                    transport.prepare_synchronise()
                                  } -> std::same_as<typename T::CollectiveRequest>;
                                  transport.prepare_scatter(root, in, out);
                                  transport.prepare_scatterv(root, in, each, each, out);
                                  transport.prepare_gather(root, in, out);
                                  transport.prepare_gatherv(root, in, out, each, each);
                                  transport.prepare_allgather(in, out);
                                  transport.prepare_allgatherv(in, out, each, each);
                                  transport.prepare_alltoall(in, out);
                                  transport.prepare_alltoallv(in, each, each, out, each, each);
                                  transport.prepare_alltoallw(in, each, each, out, each, each);
                                  transport.prepare_reduce(root, in, out);
                                  transport.prepare_allreduce(in, out);
                                  transport.prepare_reduce_scatter(in, out);
                                  transport.prepare_reduce_scatterv(in, out, each);
                                  transport.prepare_scan(in, out);
                                  transport.start(request);
                                  transport.release(request);
                                };

}  // namespace nhalf

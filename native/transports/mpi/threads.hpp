// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Messages of several threads of a rank.
#pragma once

#include <mpi.h>

#include "contract/transport.hpp"

namespace nhalf {

/// Added to what Base can do. Threads have communicators of their own, or tags of one.
template <class Base>
class MpiThreads : public Base {
 public:
  using Base::recv;
  using Base::send;

  struct ThreadChannel {
    MPI_Comm among = MPI_COMM_WORLD;
    int tag = 0;
  };

  [[nodiscard]] bool is_thread_multiple() const {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
  }
  ThreadChannel thread_channel(int thread, bool own) {
    ThreadChannel made{MPI_COMM_WORLD, first_tag + thread};
    if (own) MPI_Comm_dup(MPI_COMM_WORLD, &made.among);
    return made;
  }
  void close(ThreadChannel& channel) {
    if (channel.among != MPI_COMM_WORLD) MPI_Comm_free(&channel.among);
  }
  void send(const ThreadChannel& channel, int peer, ConstBytes data) {
    MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, channel.tag,
             channel.among);
  }
  void recv(const ThreadChannel& channel, int peer, Bytes data) {
    MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, channel.tag, channel.among,
             MPI_STATUS_IGNORE);
  }

 protected:
  using Base::Base;

 private:
  static constexpr int first_tag = 100;
};

}  // namespace nhalf

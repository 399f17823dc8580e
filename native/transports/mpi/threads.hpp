// nhalf-needs: MPI
// Messages and collective operations of several threads of a rank.
#pragma once

#include <mpi.h>

#include "contract/transport.hpp"

namespace nhalf {

/// Added to what Base can do. Threads have communicators of their own, or tags of one.
template <class Base>
class MpiThreads : public Base {
 public:
  using Base::allreduce;
  using Base::bcast;
  using Base::exchange;
  using Base::isend;
  using Base::recv;
  using Base::reduce;
  using Base::send;
  using Base::synchronise;

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
    ThreadChannel opened{MPI_COMM_WORLD, first_tag + thread};
    if (own) MPI_Comm_dup(MPI_COMM_WORLD, &opened.among);
    return opened;
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
  void exchange(const ThreadChannel& channel, int to, ConstBytes out, int from, Bytes in) {
    MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, to, channel.tag, in.data(),
                 static_cast<int>(in.size()), MPI_BYTE, from, channel.tag, channel.among,
                 MPI_STATUS_IGNORE);
  }
  MPI_Request isend(const ThreadChannel& channel, int peer, ConstBytes data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, channel.tag,
              channel.among, &request);
    return request;
  }

  void synchronise(const ThreadChannel& channel) { MPI_Barrier(channel.among); }
  void bcast(const ThreadChannel& channel, int root, Bytes data) {
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, channel.among);
  }
  void reduce(const ThreadChannel& channel, int root, ConstBytes in, Bytes out) {
    MPI_Reduce(in.data(), out.data(), static_cast<int>(in.size() / sizeof(float)), MPI_FLOAT,
               MPI_SUM, root, channel.among);
  }
  void allreduce(const ThreadChannel& channel, ConstBytes in, Bytes out) {
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size() / sizeof(float)), MPI_FLOAT,
                  MPI_SUM, channel.among);
  }

 protected:
  using Base::Base;

 private:
  static constexpr int first_tag = 100;
};

}  // namespace nhalf

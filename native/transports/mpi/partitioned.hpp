// nhalf-needs: MPI
// The partitioned messages of MPI 4.
#pragma once

#include <mpi.h>

#include "contract/transport.hpp"
#include "transports/mpi/since.hpp"

namespace nhalf {

/// Added to what Base can do, where the library has them; Base starts and releases requests.
template <class Base>
class MpiPartitioned : public Base {
#ifdef NHALF_MPI_4
 public:
  MPI_Request prepare_parts_send(int peer, ConstBytes data, int parts) {
    MPI_Request request;
    MPI_Psend_init(data.data(), parts, part(data, parts), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_parts_recv(int peer, Bytes data, int parts) {
    MPI_Request request;
    MPI_Precv_init(data.data(), parts, part(data, parts), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request);
    return request;
  }
  void ready(MPI_Request& request, int number) { MPI_Pready(number, request); }

 private:
  static constexpr int tag = 2;
  static MPI_Count part(ConstBytes data, int parts) {
    return static_cast<MPI_Count>(data.size()) / parts;
  }
#endif

 protected:
  using Base::Base;
};

}  // namespace nhalf

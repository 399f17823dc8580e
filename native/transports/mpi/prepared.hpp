// nhalf-needs: MPI
// Messages of MPI that are set up once and started again and again, derived data types, and
// messages and collective operations of several threads of a rank.
#pragma once

#include <mpi.h>

#include "contract/collectives.hpp"
#include "contract/messages.hpp"

/// Persistent collectives, partitioned messages and sessions. Open MPI has had them since 5.0 but
/// still calls itself 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define NHALF_MPI_4
#endif

namespace nhalf {
/// Added to what Base can do.
template <class Base>
class MpiDataTypes : public Base {
 public:
  using DataType = MPI_Datatype;

  /// Bytes, or integers, whose representation is converted where the calls say so.
  MPI_Datatype data_type(const Layout& layout, bool of_integers = false) {
    const MPI_Datatype element = of_integers ? MPI_INT : MPI_BYTE;
    const auto width = of_integers ? sizeof(int) : 1;
    MPI_Datatype derived = MPI_DATATYPE_NULL;
    const int blocks = static_cast<int>(layout.offsets.size());
    const int block = static_cast<int>(layout.block_bytes / width);
    if (layout.kind == LayoutKind::vector) {
      MPI_Type_vector(blocks, block, 2 * block, element, &derived);
    } else if (layout.kind == LayoutKind::indexed) {
      const std::vector<int> lengths(layout.offsets.size(), block);
      std::vector<int> places;
      for (const auto offset : layout.offsets) places.push_back(static_cast<int>(offset / width));
      MPI_Type_indexed(blocks, lengths.data(), places.data(), element, &derived);
    } else if (layout.kind == LayoutKind::structure) {
      derived = row_of_structures(blocks / 2, static_cast<int>(layout.block_bytes), element, width);
    } else {
      MPI_Type_contiguous(static_cast<int>(layout.size_bytes() / width), element, &derived);
    }
    MPI_Type_commit(&derived);
    return derived;
  }
  void release_type(MPI_Datatype& type) { MPI_Type_free(&type); }

  void send_typed(int peer, ConstBytes data, const MPI_Datatype& type) {
    MPI_Send(data.data(), 1, type, peer, tag, MPI_COMM_WORLD);
  }
  void recv_typed(int peer, Bytes data, const MPI_Datatype& type) {
    MPI_Recv(data.data(), 1, type, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void pack(ConstBytes from, const MPI_Datatype& type, Bytes to) {
    int place = 0;
    MPI_Pack(from.data(), 1, type, to.data(), static_cast<int>(to.size()), &place, MPI_COMM_WORLD);
  }
  void unpack(ConstBytes from, Bytes to, const MPI_Datatype& type) {
    int place = 0;
    MPI_Unpack(from.data(), static_cast<int>(from.size()), &place, to.data(), 1, type,
               MPI_COMM_WORLD);
  }
  /// In the representation that is the same on all machines: big-endian, as XDR. MPICH 5.0.2 ends
  /// the program where a type has no data.
  void pack_external(ConstBytes from, const MPI_Datatype& type, Bytes to) {
    if (to.empty()) return;
    MPI_Aint place = 0;
    MPI_Pack_external("external32", from.data(), 1, type, to.data(),
                      static_cast<MPI_Aint>(to.size()), &place);
  }
  void unpack_external(ConstBytes from, Bytes to, const MPI_Datatype& type) {
    if (from.empty()) return;
    MPI_Aint place = 0;
    MPI_Unpack_external("external32", from.data(), static_cast<MPI_Aint>(from.size()), &place,
                        to.data(), 1, type);
  }

 protected:
  using Base::Base;

 private:
  static constexpr int tag = 3;

  static MPI_Datatype row_of_structures(int count, int block, MPI_Datatype part,
                                        std::size_t width) {
    const int half = block / 2 / static_cast<int>(width);
    const std::array lengths{half, half};
    const std::array<MPI_Aint, 2> offsets{0, block * 3 / 4};
    const std::array types{part, part};
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Datatype row = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths.data(), offsets.data(), types.data(), &element);
    MPI_Type_create_resized(element, 0, MPI_Aint{2} * block, &spaced);
    MPI_Type_contiguous(count, spaced, &row);
    MPI_Type_free(&element);
    MPI_Type_free(&spaced);
    return row;
  }
};

/// Persistent requests on MPI_COMM_WORLD, added to what Base can do.
template <class Base>
class MpiPersistent : public Base {
 public:
  MPI_Request prepare_send(int peer, ConstBytes data) {
    MPI_Request request;
    MPI_Send_init(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  &request);
    return request;
  }
  MPI_Request prepare_recv(int peer, Bytes data) {
    MPI_Request request;
    MPI_Recv_init(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  &request);
    return request;
  }
  void start(MPI_Request& request) { MPI_Start(&request); }
  void start_all(std::span<MPI_Request> requests) {
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
  }
  void release(MPI_Request& request) { MPI_Request_free(&request); }

 protected:
  using Base::Base;

 private:
  static constexpr int tag = 1;
};

// Collective operations of MPI 4 that are set up once, one to one.

/// Added to what Base can do, where the library has them; Base starts and releases requests.
template <class Base>
class MpiPersistentCollectives : public Base {
#ifdef NHALF_MPI_4
 public:
#define NHALF_EQUAL(operation, Function, function, parameters, ...)                                \
  MPI_Request prepare_##operation parameters {                                                     \
    MPI_Request request;                                                                           \
    MPI_##Function##_init(__VA_ARGS__ __VA_OPT__(, ) this->under_test(), MPI_INFO_NULL, &request); \
    return request;                                                                                \
  }
#define NHALF_VARYING NHALF_EQUAL
#include "transports/mpi/operations.inc"
#endif

 protected:
  using Base::Base;
  using Base::count;
  using Base::or_in_place;
};

// The partitioned messages of MPI 4.

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

/// Added to what Base can do. Threads have communicators of their own, or tags of one.
template <class Base>
class MpiThreads : public Base {
 public:
  using Base::allreduce;
  using Base::bcast;
  using Base::reduce;
  using Base::synchronise;
  using ThreadChannel = typename Base::Channel;

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

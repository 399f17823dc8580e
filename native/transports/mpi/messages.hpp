// nhalf-needs: MPI
// Messages between two ranks by the calls of MPI, one to one; what the library calls itself, and
// what it can name.
#pragma once

#include <dlfcn.h>

#include <climits>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "transports/mpi/collectives.hpp"
#include "transports/mpi/tool.hpp"

namespace nhalf {
/// For transports whose data MPI carries.
class MpiNamed {
 public:
  [[nodiscard]] std::string library() const {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    // Some libraries count the NUL at the end.
    return {text, strnlen(text, static_cast<std::size_t>(length))};
  }

  /// What the library says of its own parameters.
  [[nodiscard]] static MpiToolReport library_report() {
    return MpiTool::report([](const char* symbol) { return dlsym(RTLD_DEFAULT, symbol); });
  }

  /// What the library says of buffers in GPU memory (MPIX_Query_cuda_support of Open MPI and
  /// MPICH); empty where it has no such call. It is not the last word: a library that hands buffers
  /// to UCX says no, and may take them.
  [[nodiscard]] static std::string_view gpu_support() {
    auto* const ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    if (ask == nullptr) return "";
    return ask() == 1 ? "yes" : "no";
  }

  /// Checks that messages of this size can be named in an MPI call.
  static void check_size(std::size_t size_bytes) {
    if (size_bytes > INT_MAX)
      throw InputError("messages above 2147483647 bytes do not fit a call of MPI");
  }
};

/// MPI point-to-point calls on MPI_COMM_WORLD. Sizes up to 2^31 - 1 bytes.
class MpiMessages : public MpiCollectives, public MpiNamed {
 public:
  using Request = MPI_Request;

  /// Where messages are told from others.
  struct Channel {
    MPI_Comm among = MPI_COMM_WORLD;
    int tag = 0;
  };

  void send(const Channel& channel, int peer, ConstBytes data) {
    MPI_Send(data.data(), count(data), MPI_BYTE, peer, channel.tag, channel.among);
  }
  void recv(const Channel& channel, int peer, Bytes data) {
    MPI_Recv(data.data(), count(data), MPI_BYTE, peer, channel.tag, channel.among,
             MPI_STATUS_IGNORE);
  }
  void exchange(const Channel& channel, int to, ConstBytes out, int from, Bytes in) {
    MPI_Sendrecv(out.data(), count(out), MPI_BYTE, to, channel.tag, in.data(), count(in), MPI_BYTE,
                 from, channel.tag, channel.among, MPI_STATUS_IGNORE);
  }
  Request isend(const Channel& channel, int peer, ConstBytes data) {
    Request request;
    MPI_Isend(data.data(), count(data), MPI_BYTE, peer, channel.tag, channel.among, &request);
    return request;
  }
  Request irecv(const Channel& channel, int peer, Bytes data) {
    Request request;
    MPI_Irecv(data.data(), count(data), MPI_BYTE, peer, channel.tag, channel.among, &request);
    return request;
  }

  void send(int peer, ConstBytes data) { send(Channel{}, peer, data); }
  void recv(int peer, Bytes data) { recv(Channel{}, peer, data); }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    exchange(Channel{}, to, out, from, in);
  }
  Request isend(int peer, ConstBytes data) { return isend(Channel{}, peer, data); }
  Request irecv(int peer, Bytes data) { return irecv(Channel{}, peer, data); }
  int recv_any(Bytes data) {
    MPI_Status status;
    MPI_Recv(data.data(), count(data), MPI_BYTE, MPI_ANY_SOURCE, tag, world(), &status);
    return status.MPI_SOURCE;
  }
  void ssend(int peer, ConstBytes data) {
    MPI_Ssend(data.data(), count(data), MPI_BYTE, peer, tag, world());
  }
  void rsend(int peer, ConstBytes data) {
    MPI_Rsend(data.data(), count(data), MPI_BYTE, peer, tag, world());
  }
  void bsend(int peer, ConstBytes data) {
    MPI_Bsend(data.data(), count(data), MPI_BYTE, peer, tag, world());
  }
  void attach_buffer(std::size_t size_bytes, int messages) {
    const auto room = (size_bytes + MPI_BSEND_OVERHEAD) * static_cast<std::size_t>(messages);
    if (room > INT_MAX) throw InputError("messages too large for buffered sends");
    attached_ = std::make_unique<Buffer>(room, host_memory);
    MPI_Buffer_attach(attached_->bytes().data(), static_cast<int>(room));
  }
  void detach_buffer() {
    void* memory = nullptr;
    int room = 0;
    MPI_Buffer_detach(&memory, &room);
    attached_.reset();
  }

  /// Receives take any rank or any tag where it is below 0 (contract/messages.hpp).
  Request isend_tagged(int peer, int number, ConstBytes data) {
    return isend({world(), first_tag + number}, peer, data);
  }
  Request irecv_tagged(int peer, int number, Bytes data) {
    return irecv({world(), tag_of(number)}, source_of(peer), data);
  }
  void recv_tagged(int peer, int number, Bytes data) {
    recv({world(), tag_of(number)}, source_of(peer), data);
  }
  void wait(Request& request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
  void wait_all(std::span<Request> requests) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  std::size_t wait_any(std::span<Request> requests) {
    int completed = MPI_UNDEFINED;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &completed, MPI_STATUS_IGNORE);
    return completed == MPI_UNDEFINED ? requests.size() : static_cast<std::size_t>(completed);
  }

 protected:
  using MpiCollectives::MpiCollectives;

  static MPI_Comm world() { return MPI_COMM_WORLD; }

 private:
  static constexpr int tag = 0;
  static constexpr int first_tag = 1000;

  static int source_of(int peer) { return peer < 0 ? MPI_ANY_SOURCE : peer; }
  static int tag_of(int number) { return number < 0 ? MPI_ANY_TAG : first_tag + number; }

  std::unique_ptr<Buffer> attached_;
};
}  // namespace nhalf

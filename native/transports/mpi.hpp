// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Messages of the Message Passing Interface, on MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "core/clock.hpp"
#include "core/options.hpp"
#include "core/pattern.hpp"
#include "core/transport.hpp"
#include "transports/mpi/collectives.hpp"

namespace nhalf {

/// MPI point-to-point calls, one to one. Sizes up to 2^31 - 1 bytes.
class MpiTransport : public MpiCollectives {
 public:
  using MpiCollectives::gather;
  static constexpr TransportInfo info{"mpi", "messages of the MPI library under test",
                                      ClockError::described};
  static constexpr std::string_view clock_name = SteadyClock::name;
  using Request = MPI_Request;

  template <class Body>
  static int launch(int argc, char** argv, int, const Options& options, Body body) {
    MPI_Init(&argc, &argv);
    {
      MpiTransport transport(options);
      try {
        body(transport);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "probe: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    MPI_Finalize();
    return 0;
  }

  [[nodiscard]] double now_s() const { return clock_error_.shown_s(clock_.now_s()); }

  void send(int peer, ConstBytes data) {
    MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, world());
  }
  void recv(int peer, Bytes data) {
    MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, world(),
             MPI_STATUS_IGNORE);
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, to, tag, in.data(),
                 static_cast<int>(in.size()), MPI_BYTE, from, tag, world(), MPI_STATUS_IGNORE);
  }
  void ssend(int peer, ConstBytes data) {
    MPI_Ssend(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, world());
  }
  void rsend(int peer, ConstBytes data) {
    MPI_Rsend(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, world());
  }
  void bsend(int peer, ConstBytes data) {
    MPI_Bsend(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, world());
  }
  void attach_buffer(std::size_t size_bytes, int messages) {
    const auto room = (size_bytes + MPI_BSEND_OVERHEAD) * static_cast<std::size_t>(messages);
    if (room > INT_MAX) throw InputError("messages too large for buffered sends");
    attached_ = std::make_unique<Buffer>(room);
    MPI_Buffer_attach(attached_->bytes().data(), static_cast<int>(room));
  }
  void detach_buffer() {
    void* memory = nullptr;
    int room = 0;
    MPI_Buffer_detach(&memory, &room);
    attached_.reset();
  }

  Request isend(int peer, ConstBytes data) {
    Request request;
    MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, world(), &request);
    return request;
  }
  Request irecv(int peer, Bytes data) {
    Request request;
    MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, world(), &request);
    return request;
  }
  void wait(Request& request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
  void wait_all(std::span<Request> requests) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  std::size_t wait_any(std::span<Request> requests) {
    int done = MPI_UNDEFINED;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUS_IGNORE);
    return done == MPI_UNDEFINED ? requests.size() : static_cast<std::size_t>(done);
  }

  void barrier() { MPI_Barrier(world()); }
  void broadcast(Bytes data) {
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, 0, world());
  }
  bool all(bool mine) {
    int verdict = mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &verdict, 1, MPI_INT, MPI_LAND, world());
    return verdict != 0;
  }
  std::vector<std::string> gather(const std::string& text) {
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(size()));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, world());
    std::vector<int> offsets(lengths.size() + 1, 0);
    for (std::size_t i = 0; i < lengths.size(); ++i) offsets[i + 1] = offsets[i] + lengths[i];
    std::string joined(rank() == 0 ? static_cast<std::size_t>(offsets.back()) : 0, ' ');
    MPI_Gatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), offsets.data(),
                MPI_CHAR, 0, world());
    std::vector<std::string> all_texts;
    for (std::size_t i = 0; rank() == 0 && i < lengths.size(); ++i)
      all_texts.push_back(joined.substr(static_cast<std::size_t>(offsets[i]),
                                        static_cast<std::size_t>(lengths[i])));
    return all_texts;
  }
  std::vector<double> collect(std::span<const double> mine) {
    std::vector<double> everyone(rank() == 0 ? mine.size() * static_cast<std::size_t>(size()) : 0);
    const int count = static_cast<int>(mine.size());
    MPI_Gather(mine.data(), count, MPI_DOUBLE, everyone.data(), count, MPI_DOUBLE, 0, world());
    return everyone;
  }
  [[nodiscard]] std::string library() const {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    // Some libraries count the NUL at the end.
    return {text, strnlen(text, static_cast<std::size_t>(length))};
  }

  /// Checks that messages of this size can be named in an MPI call.
  static void check_size(std::size_t size_bytes) {
    if (size_bytes > INT_MAX)
      throw InputError("messages above 2147483647 bytes do not fit a call of MPI");
  }

 private:
  explicit MpiTransport(const Options& options) {
    clock_error_ = ClockError(options, rank());
    auto epoch_ns = clock_.epoch_ns();
    MPI_Bcast(&epoch_ns, 1, MPI_INT64_T, 0, world());
    clock_.set_epoch_ns(epoch_ns);
  }

  static MPI_Comm world() { return MPI_COMM_WORLD; }
  static constexpr int tag = 0;

  SteadyClock clock_;
  ClockError clock_error_;
  std::unique_ptr<Buffer> attached_;
};

}  // namespace nhalf

NHALF_TRANSPORT(nhalf::MpiTransport);

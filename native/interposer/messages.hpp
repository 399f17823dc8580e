// nhalf-needs: MPI
// The transport of algorithms within an unchanged program: a separate communicator, and calls that
// no other tool sees.
#pragma once

#include "interposer/combining.hpp"

namespace nhalf::coll {

/// Messages among the ranks of a communicator, of up to 2^31 - 1 bytes each. The first error is
/// kept until `take_error`.
class Messages {
 public:
  using Request = MPI_Request;
  static constexpr TransportInfo info{"collectives", "messages below MPI's collectives", {}};

  /// Makes a communicator with the ranks of `origin` but without its attributes; collective.
  explicit Messages(MPI_Comm origin) {
    PMPI_Comm_rank(origin, &rank_);
    PMPI_Comm_size(origin, &size_);
    // A library that runs out of communicators is not the program's error.
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(origin, &handler);
    PMPI_Comm_set_errhandler(origin, MPI_ERRORS_RETURN);
    if (PMPI_Comm_split(origin, 0, rank_, &own_) != MPI_SUCCESS) own_ = MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(origin, handler);
    if (handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL)
      PMPI_Errhandler_free(&handler);
    if (is_open()) PMPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() {
    if (is_open()) PMPI_Comm_free(&own_);
  }

  [[nodiscard]] bool is_open() const { return own_ != MPI_COMM_NULL; }
  /// Returns the communicator, for operations such as revoke that have to apply to it as well.
  [[nodiscard]] MPI_Comm comm() const { return own_; }

  /// Sets how reductions combine from now on.
  void combine_by(const Combining& combining) { combining_ = &combining; }
  void combine(ConstBytes from, Bytes to) const { (*combining_)(from, to); }
  [[nodiscard]] std::size_t element_bytes() const {
    return combining_ == nullptr ? 1 : combining_->element_bytes();
  }

  /// Returns the first error since the last call, MPI_SUCCESS if there was none.
  int take_error() { return std::exchange(error_, MPI_SUCCESS); }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  void send(int peer, ConstBytes data) {
    keep(PMPI_Send(data.data(), count(data), MPI_BYTE, peer, tag, own_));
  }
  void recv(int peer, Bytes data) {
    keep(PMPI_Recv(data.data(), count(data), MPI_BYTE, peer, tag, own_, MPI_STATUS_IGNORE));
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    keep(PMPI_Sendrecv(out.data(), count(out), MPI_BYTE, to, tag, in.data(), count(in), MPI_BYTE,
                       from, tag, own_, MPI_STATUS_IGNORE));
  }
  Request isend(int peer, ConstBytes data) {
    Request request = MPI_REQUEST_NULL;
    keep(PMPI_Isend(data.data(), count(data), MPI_BYTE, peer, tag, own_, &request));
    return request;
  }
  Request irecv(int peer, Bytes data) {
    Request request = MPI_REQUEST_NULL;
    keep(PMPI_Irecv(data.data(), count(data), MPI_BYTE, peer, tag, own_, &request));
    return request;
  }
  void wait(Request& request) { keep(PMPI_Wait(&request, MPI_STATUS_IGNORE)); }
  void wait_all(std::span<Request> requests) {
    keep(PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  }
  std::size_t wait_any(std::span<Request> requests) {
    int completed = MPI_UNDEFINED;
    keep(PMPI_Waitany(static_cast<int>(requests.size()), requests.data(), &completed,
                      MPI_STATUS_IGNORE));
    return completed == MPI_UNDEFINED ? requests.size() : static_cast<std::size_t>(completed);
  }

  // The rest of the concept Transport, which algorithms do not call.
  [[nodiscard]] double now_s() const { return 0; }
  void barrier() { keep(PMPI_Barrier(own_)); }
  void broadcast(Bytes data) { keep(PMPI_Bcast(data.data(), count(data), MPI_BYTE, 0, own_)); }
  [[nodiscard]] bool all(bool mine) const { return mine; }
  [[nodiscard]] std::vector<std::string> gather(const std::string&) const { return {}; }
  [[nodiscard]] std::string library() const { return "MPI"; }

 private:
  static constexpr int tag = 0;

  static int count(ConstBytes data) { return static_cast<int>(data.size()); }
  void keep(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }

  MPI_Comm own_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int error_ = MPI_SUCCESS;
  const Combining* combining_ = nullptr;
};

}  // namespace nhalf::coll

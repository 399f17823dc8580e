// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Control messages about the measurement between ranks that MPI started, for any transport of data.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "contract/options.hpp"
#include "contract/transport.hpp"
#include "host/virtual_clock.hpp"
#include "timing/clock.hpp"
#include "transports/bases/mpi_start.hpp"

namespace nhalf {

/// Control by the collectives of MPI on MPI_COMM_WORLD, and the host's clock, or that of the
/// virtual network.
class MpiControl {
 public:
  static constexpr std::string_view clock_name = SteadyClock::name;

  explicit MpiControl(const Options& options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    clock_error_ = ClockError(options, rank_);
    if (!has_virtual_clock()) share_epoch();
  }
  MpiControl(const MpiControl&) = delete;
  MpiControl& operator=(const MpiControl&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] double now_s() const {
    return has_virtual_clock() ? virtual_clock_.now_s() : clock_error_.shown_s(clock_.now_s());
  }
  [[nodiscard]] bool has_virtual_clock() const { return virtual_clock_.is_here(); }
  double sleep_until(double clock_s) { return virtual_clock_.sleep_until(clock_s); }

  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  void broadcast(Bytes data) {
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  bool all(bool mine) {
    int verdict = mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &verdict, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return verdict != 0;
  }
  std::vector<std::string> gather(const std::string& text) {
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<int> offsets(lengths.size() + 1, 0);
    for (std::size_t i = 0; i < lengths.size(); ++i) offsets[i + 1] = offsets[i] + lengths[i];
    std::string joined(rank_ == 0 ? static_cast<std::size_t>(offsets.back()) : 0, ' ');
    MPI_Gatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), offsets.data(),
                MPI_CHAR, 0, MPI_COMM_WORLD);
    std::vector<std::string> all_texts;
    for (std::size_t i = 0; rank_ == 0 && i < lengths.size(); ++i)
      all_texts.push_back(joined.substr(static_cast<std::size_t>(offsets[i]),
                                        static_cast<std::size_t>(lengths[i])));
    return all_texts;
  }
  std::vector<double> collect(std::span<const double> mine) {
    std::vector<double> everyone(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
    const int count = static_cast<int>(mine.size());
    MPI_Gather(mine.data(), count, MPI_DOUBLE, everyone.data(), count, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    return everyone;
  }

  /// Every rank's value at every rank, by rank: how addresses are exchanged.
  template <class Value>
    requires std::is_trivially_copyable_v<Value>
  std::vector<Value> everybodys(const Value& mine) {
    std::vector<Value> values(static_cast<std::size_t>(size_));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, values.data(), sizeof mine, MPI_BYTE,
                  MPI_COMM_WORLD);
    return values;
  }

  /// Whether all ranks run on one host.
  bool is_one_host() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int beside = 0;
    MPI_Comm_size(node, &beside);
    MPI_Comm_free(&node);
    return all(beside == size_);
  }

 private:
  /// Ranks of one host share an epoch. Hosts do not: where one has been up for months longer, its
  /// readings would be so large that nanoseconds are lost in them.
  void share_epoch() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    auto epoch_ns = clock_.epoch_ns();
    MPI_Bcast(&epoch_ns, 1, MPI_INT64_T, 0, node);
    clock_.set_epoch_ns(epoch_ns);
    MPI_Comm_free(&node);
  }

  int rank_ = 0;
  int size_ = 1;
  VirtualClock virtual_clock_;
  SteadyClock clock_;
  ClockError clock_error_;
};

/// Reports why this rank ends, and which rank it is, so that observers do not take it for the first
/// to end.
inline void give_up(const std::exception& error) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "probe: rank %d: %s\n", rank, error.what());
}

/// Runs a body on transport T in a process that MPI started. What one rank cannot do ends them all.
template <class T, class Body>
int launch_by_mpi(int argc, char** argv, const Options& options, Body body) {
  MpiStart::start(argc, argv, options);
  try {
    T transport(options);
    body(transport);
  } catch (const std::exception& error) {
    give_up(error);
    // Lets observers first see what made this rank give up, such as the end of another rank.
    usleep(200000);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MpiStart::finish();
  return 0;
}

}  // namespace nhalf

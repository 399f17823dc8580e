// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Messages of the Message Passing Interface, on MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "timing/clock.hpp"
#include "transports/mpi/messages.hpp"

namespace nhalf {

/// MPI on real machines: its own collectives serve control, and the host's clock time.
class MpiTransport : public MpiMessages {
 public:
  using MpiMessages::gather;
  static constexpr TransportInfo info{"mpi", "messages of the MPI library under test",
                                      ClockError::described};
  static constexpr std::string_view clock_name = SteadyClock::name;

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

 private:
  explicit MpiTransport(const Options& options) : MpiMessages(true) {
    clock_error_ = ClockError(options, rank());
    share_epoch();
  }

  /// Ranks of one host share an epoch. Hosts do not: where one has been up for months longer, its
  /// readings would be so large that nanoseconds are lost in them.
  void share_epoch() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(world(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    auto epoch_ns = clock_.epoch_ns();
    MPI_Bcast(&epoch_ns, 1, MPI_INT64_T, 0, node);
    clock_.set_epoch_ns(epoch_ns);
    MPI_Comm_free(&node);
  }

  SteadyClock clock_;
  ClockError clock_error_;
};

}  // namespace nhalf

NHALF_TRANSPORT(nhalf::MpiTransport);

// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What is kept with a communicator: what its operations do, its shared memory, its messages.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "host/segment.hpp"
#include "interposer/choices.hpp"
#include "interposer/crowd.hpp"
#include "interposer/messages.hpp"
#include "interposer/shared_memory.hpp"

namespace nhalf::coll {

/// One per communicator and process, an attribute of it. Everything that needs other ranks is made
/// when the first operation wants it, which is the same one on all ranks.
class Communicator {
 public:
  /// That of a communicator, made at its first operation; null where it is none.
  static Communicator* of(MPI_Comm comm) {
    Last& last = last_of_thread();
    if (last.comm == comm && last.age == age().load(std::memory_order_acquire)) return last.found;
    if (comm == MPI_COMM_NULL) return nullptr;
    void* found = nullptr;
    int is_there = 0;
    PMPI_Comm_get_attr(comm, key(), static_cast<void*>(&found), &is_there);
    if (is_there == 0) {
      found = new Communicator(comm);
      PMPI_Comm_set_attr(comm, key(), found);
    }
    last = {comm, age().load(std::memory_order_acquire), static_cast<Communicator*>(found)};
    return last.found;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// Operations between two groups, and those of one rank, are left to the library.
  [[nodiscard]] bool is_routed() const { return is_routed_; }

  /// What the rules say of an operation of so many bytes.
  [[nodiscard]] int ruled(Operation operation, std::uint64_t size_bytes) const {
    return ranges_[index_of(operation)].at(size_bytes);
  }

  /// Null where the ranks share no memory. At first all ranks call it.
  SharedMemory* shared() {
    if (!is_shared_known_) prepare_shared();
    return shared_ ? &*shared_ : nullptr;
  }
  /// At first all ranks call it.
  Messages& messages() {
    if (!messages_) messages_ = std::make_unique<Messages>(comm_);
    return *messages_;
  }

  /// From now on nothing is given back: the library ends and takes all with it.
  static void end() { is_ending().store(true, std::memory_order_release); }

  /// Room for an algorithm, and for data that is packed on its way in and out.
  Scratch work, packed_in, packed_out;

 private:
  struct Last {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t age = 0;
    Communicator* found = nullptr;
  };
  static Last& last_of_thread() {
    static thread_local Last last;
    return last;
  }
  /// Grows when a communicator goes, after which its handle may come again.
  static std::atomic<std::uint64_t>& age() {
    static std::atomic<std::uint64_t> value{0};
    return value;
  }

  static std::atomic<bool>& is_ending() {
    static std::atomic<bool> value{false};
    return value;
  }

  static int key() {
    static const int made = [] {
      int value = MPI_KEYVAL_INVALID;
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Communicator::forget, &value, nullptr);
      return value;
    }();
    return made;
  }
  static int forget(MPI_Comm, int, void* value, void*) {
    age().fetch_add(1, std::memory_order_acq_rel);
    auto* self = static_cast<Communicator*>(value);
    if (is_ending().load(std::memory_order_acquire)) static_cast<void>(self->messages_.release());
    delete self;
    return MPI_SUCCESS;
  }

  explicit Communicator(MPI_Comm comm) : comm_(comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &size_);
    is_routed_ = is_inter == 0 && size_ > 1;
    if (!is_routed_) return;
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      ranges_[i] = Choices::of_process().ranges(static_cast<Operation>(i), size_);
  }

  /// What rank 0 tells all others.
  struct Invitation {
    char name[64];
    std::uint64_t token;
    std::uint64_t digest;
  };

  /// Rank 0 makes a segment, and whoever sees what it wrote there is on its node. All ranks share
  /// it, or none does; nor where they were given different tables.
  void prepare_shared() {
    is_shared_known_ = true;
    const auto lines_bytes = SharedMemory::size_bytes(size_);
    const auto all_bytes = page_bytes + lines_bytes + Crowd::size_bytes(size_);
    Invitation invitation{};
    if (rank_ == 0) invite(invitation, all_bytes);
    PMPI_Bcast(&invitation, sizeof invitation, MPI_BYTE, 0, comm_);
    if (rank_ != 0) segment_ = Segment::open(invitation.name, all_bytes);
    int mine = is_welcome(invitation) ? 1 : 0;
    Crowd crowd(mine != 0 ? segment_.data() + page_bytes + lines_bytes : nullptr, size_);
    if (mine != 0) crowd.enter(rank_);
    int all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm_);
    if (rank_ == 0) Segment::forget(invitation.name);
    if (all == 0) {
      segment_ = Segment();
      return;
    }
    shared_.emplace(segment_.data() + page_bytes, rank_, size_);
    shared_->waiting.context = this;
    shared_->waiting.progress = [](void* self) { static_cast<Communicator*>(self)->progress(); };
    if (crowd.is_crowded()) shared_->waiting.crowd();
  }

  void invite(Invitation& invitation, std::size_t all_bytes) {
    const auto name = Segment::fresh_name();
    name.copy(invitation.name, sizeof invitation.name - 1);
    invitation.token = std::hash<std::string>{}(name);
    invitation.digest = Choices::of_process().digest();
    segment_ = Segment::create(invitation.name, all_bytes);
    if (segment_) std::memcpy(segment_.data(), &invitation.token, sizeof invitation.token);
  }

  [[nodiscard]] bool is_welcome(const Invitation& invitation) const {
    return segment_ && invitation.digest == Choices::of_process().digest() &&
           std::memcmp(segment_.data(), &invitation.token, sizeof invitation.token) == 0;
  }

  /// Lets the library take what peers are sending, without taking any message itself.
  void progress() const {
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &flag, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  bool is_routed_ = false;
  bool is_shared_known_ = false;
  PerOperation<Ranges> ranges_;
  Segment segment_;
  std::optional<SharedMemory> shared_;
  std::unique_ptr<Messages> messages_;
};

}  // namespace nhalf::coll

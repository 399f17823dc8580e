// nhalf-needs: MPI
// IS in message passing: keys go to the rank that has their bucket. Per iteration the sizes of all
// buckets are added (with the five keys that are tested), every rank tells every other how many
// keys come, and sends them.
#pragma once

#include <climits>
#include <cstddef>
#include <span>
#include <vector>

#include "apps/npb/is/numerics.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::is {

class Mpi : public Kernel {
 public:
  Mpi(MpiWorld& world, char problem_class)
      : world_(world), problem_(problem_of<Problem>(problems, problem_class)) {
    const auto mine = problem_.keys() / world.size;
    if (mine > INT_MAX)
      throw InputError(std::string("class ") + problem_class + " of npb-is needs more ranks");
    // A rank may get one bucket more than its share; the fullest has less than three times the
    // mean.
    const auto bucket = 3 * problem_.keys() / problem_.buckets();
    keys_.resize(static_cast<std::size_t>(mine));
    sorted_.resize(static_cast<std::size_t>(mine));
    received_.resize(static_cast<std::size_t>(mine + bucket));
    below_.resize(static_cast<std::size_t>(problem_.max_key()));
    const auto buckets = static_cast<std::size_t>(problem_.buckets());
    for (auto* vector : {&counts_, &totals_}) vector->resize(buckets + tests);
    next_.resize(buckets);
    const auto ranks = static_cast<std::size_t>(world.size);
    for (auto* vector : {&sent_, &sent_at_, &got_, &got_at_}) vector->resize(ranks);
  }

  void prepare() override {
    make_keys(problem_, world_.rank * (problem_.keys() / world_.size), keys_);
    iterate(1);
    right_ = 0;
  }

  void run() override {
    for (int iteration = 1; iteration <= iterations; ++iteration) iterate(iteration);
  }

  std::vector<Check> checks() override {
    std::vector<int> in_order(sorted_.size() + received_.size());
    const auto mine = std::span(received_).first(keys_here_);
    std::int64_t wrong = disorder(mine, first_key_, std::span(below_).first(numbers_), in_order);
    const int largest = keys_here_ > 0 ? in_order[keys_here_ - 1] : first_key_;
    if (neighbour_has_larger(largest, keys_here_ > 0 ? in_order[0] : INT_MAX)) ++wrong;
    double sums[] = {static_cast<double>(right_), static_cast<double>(wrong)};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return {{"known ranks", sums[0], tests * iterations, 0}, {"keys out of order", sums[1], 0, 0}};
  }

 private:
  void iterate(int iteration) {
    if (world_.rank == 0) change_keys(problem_, iteration, keys_);
    const auto buckets = static_cast<std::size_t>(problem_.buckets());
    const auto counts = std::span(counts_).first(buckets);
    count_buckets(keys_, problem_.bucket_shift(), counts, next_);
    note_test_keys(std::span(counts_).subspan(buckets));
    int place = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      next_[bucket] = place;
      place += counts[bucket];
    }
    scatter(std::span<const int>(keys_), problem_.bucket_shift(), std::span(next_), sorted_.data());
    world_.communicate([&] {
      MPI_Allreduce(counts_.data(), totals_.data(), static_cast<int>(counts_.size()), MPI_INT,
                    MPI_SUM, world_.all);
    });
    divide();
    exchange();
    rank_keys(std::span(received_).first(keys_here_), first_key_,
              std::span(below_).first(numbers_));
    right_ += right_ranks(problem_, iteration, std::span(totals_).subspan(buckets), first_key_,
                          keys_before_, std::span(below_).first(numbers_));
  }

  /// The keys that are tested, where this rank has them, else 0.
  void note_test_keys(std::span<int> out) const {
    const auto first = world_.rank * static_cast<std::int64_t>(keys_.size());
    for (std::size_t test = 0; test < tests; ++test) {
      const auto place = problem_.places[test] - first;
      const bool is_here = place >= 0 && place < static_cast<std::int64_t>(keys_.size());
      out[test] = is_here ? keys_[static_cast<std::size_t>(place)] : 0;
    }
  }

  /// Gives each rank buckets until it has its share of all keys.
  void divide() {
    std::int64_t keys = 0;
    int bucket = 0;
    int at = 0;
    for (int rank = 0; rank < world_.size; ++rank) {
      const int first = bucket;
      const auto before = keys;
      const auto r = static_cast<std::size_t>(rank);
      sent_at_[r] = at;
      while (bucket < problem_.buckets() &&
             (rank + 1 == world_.size || keys < (rank + 1) * share())) {
        keys += totals_[static_cast<std::size_t>(bucket)];
        at += counts_[static_cast<std::size_t>(bucket++)];
      }
      sent_[r] = at - sent_at_[r];
      if (rank != world_.rank) continue;
      first_key_ = first << problem_.bucket_shift();
      numbers_ = static_cast<std::size_t>(bucket - first) << problem_.bucket_shift();
      keys_before_ = before;
      keys_here_ = static_cast<std::size_t>(keys - before);
    }
  }

  void exchange() {
    world_.communicate([&] {
      MPI_Alltoall(sent_.data(), 1, MPI_INT, got_.data(), 1, MPI_INT, world_.all);
      got_at_[0] = 0;
      for (std::size_t rank = 1; rank < got_.size(); ++rank)
        got_at_[rank] = got_at_[rank - 1] + got_[rank - 1];
      MPI_Alltoallv(sorted_.data(), sent_.data(), sent_at_.data(), MPI_INT, received_.data(),
                    got_.data(), got_at_.data(), MPI_INT, world_.all);
    });
  }

  /// Whether the largest key of the rank before this one is larger than this rank's smallest.
  bool neighbour_has_larger(int largest, int smallest) {
    const int right = world_.rank + 1 < world_.size ? world_.rank + 1 : MPI_PROC_NULL;
    const int lower_rank = world_.rank > 0 ? world_.rank - 1 : MPI_PROC_NULL;
    int before = 0;
    MPI_Sendrecv(&largest, 1, MPI_INT, right, 0, &before, 1, MPI_INT, lower_rank, 0, world_.all,
                 MPI_STATUS_IGNORE);
    return before > smallest;
  }

  [[nodiscard]] std::int64_t share() const { return static_cast<std::int64_t>(keys_.size()); }

  MpiWorld& world_;
  const Problem& problem_;
  /// This rank's keys, the same by bucket, and those of its buckets, which others sent.
  std::vector<int> keys_, sorted_, received_;
  /// Number of keys of this rank's buckets below each number.
  std::vector<int> below_;
  /// Keys by bucket, then the keys that are tested: of this rank, and of all.
  std::vector<int> counts_, totals_;
  std::vector<int> next_;
  std::vector<int> sent_, sent_at_, got_, got_at_;
  int first_key_ = 0;
  std::size_t numbers_ = 0;
  std::size_t keys_here_ = 0;
  std::int64_t keys_before_ = 0;
  int right_ = 0;
};

}  // namespace nhalf::npb::is

// IS in OpenMP: threads count their keys by bucket, agree on where each one's keys of a bucket go,
// put them there, and rank the keys of some whole buckets each.
#pragma once

#include <climits>
#include <cstddef>
#include <span>
#include <vector>

#include "apps/npb/is/numerics.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::is {

class OpenMp : public Kernel {
 public:
  OpenMp(OpenMpWorld& world, char problem_class)
      : world_(world), problem_(problem_of<Problem>(problems, problem_class)) {
    if (problem_.keys() > INT_MAX)
      throw InputError(std::string("class ") + problem_class +
                       " of npb-is needs several processes");
    keys_.resize(static_cast<std::size_t>(problem_.keys()));
    sorted_.resize(keys_.size());
    below_.resize(static_cast<std::size_t>(problem_.max_key()));
    buckets_.resize(static_cast<std::size_t>(problem_.buckets()) + 1);
    teams_.resize(static_cast<std::size_t>(world.threads));
    for (auto& team : teams_) {
      team.counts.resize(static_cast<std::size_t>(problem_.buckets()));
      team.next.resize(team.counts.size());
    }
  }

  void prepare() override {
    world_.team([this](int thread) {
      const auto [first, size] = part(thread);
      make_keys(problem_, static_cast<std::int64_t>(first), std::span(keys_).subspan(first, size));
    });
    iterate(1);
    right_ = 0;
  }

  void run() override {
    for (int iteration = 1; iteration <= iterations; ++iteration) iterate(iteration);
  }

  std::vector<Check> checks() override {
    std::vector<int> in_order(keys_.size());
    for (int thread = 0; thread < world_.threads; ++thread) {
      const auto begin = first_bucket(thread) << problem_.bucket_shift();
      const auto end = first_bucket(thread + 1) << problem_.bucket_shift();
      for (auto key = begin; key < end; ++key) below_[key] += buckets_[first_bucket(thread)];
    }
    const auto wrong = disorder(sorted_, 0, below_, in_order);
    return {{"known ranks", static_cast<double>(right_), tests * iterations, 0},
            {"keys out of order", static_cast<double>(wrong), 0, 0}};
  }

 private:
  struct alignas(64) Own {
    std::vector<int> counts;
    std::vector<int> next;
    int right = 0;
  };
  struct Span {
    std::size_t first;
    std::size_t size;
  };

  void iterate(int iteration) {
    change_keys(problem_, iteration, keys_);
    int test_keys[tests];
    for (std::size_t test = 0; test < tests; ++test)
      test_keys[test] = keys_[static_cast<std::size_t>(problem_.places[test])];
    world_.team([&](int thread) {
      const auto [first, size] = part(thread);
      const auto mine = std::span<const int>(keys_).subspan(first, size);
      auto& own = teams_[static_cast<std::size_t>(thread)];
      count_buckets(mine, problem_.bucket_shift(), own.counts, own.next);
      world_.wait();
      place(thread, own.next);
      scatter(mine, problem_.bucket_shift(), std::span(own.next), sorted_.data());
      world_.wait();
      own.right = rank_own(thread, iteration, test_keys);
    });
    for (const auto& own : teams_) right_ += own.right;
  }

  /// Places this thread's keys of every bucket behind those of preceding threads.
  void place(int thread, std::span<int> next) {
    int at = 0;
    for (std::size_t bucket = 0; bucket < next.size(); ++bucket) {
      if (thread == 0) buckets_[bucket] = at;
      for (int other = 0; other < world_.threads; ++other) {
        if (other == thread) next[bucket] = at;
        at += teams_[static_cast<std::size_t>(other)].counts[bucket];
      }
    }
    if (thread == 0) buckets_.back() = at;
  }

  /// Ranks the keys of this thread's buckets; how many of the known ones are right.
  int rank_own(int thread, int iteration, std::span<const int> test_keys) {
    const auto begin = first_bucket(thread);
    const auto end = first_bucket(thread + 1);
    const int first_key = static_cast<int>(begin) << problem_.bucket_shift();
    const auto below = std::span(below_).subspan(static_cast<std::size_t>(first_key),
                                                 (end - begin) << problem_.bucket_shift());
    const auto at = static_cast<std::size_t>(buckets_[begin]);
    const auto count = static_cast<std::size_t>(buckets_[end]) - at;
    rank_keys(std::span<const int>(sorted_).subspan(at, count), first_key, below);
    return right_ranks(problem_, iteration, test_keys, first_key, buckets_[begin], below);
  }

  /// The bucket with which a thread's share of all keys begins.
  [[nodiscard]] std::size_t first_bucket(int thread) const {
    const auto share = static_cast<std::int64_t>(keys_.size()) * thread / world_.threads;
    const auto bucket = std::ranges::lower_bound(buckets_, share);
    return thread == world_.threads ? buckets_.size() - 1
                                    : static_cast<std::size_t>(bucket - buckets_.begin());
  }
  [[nodiscard]] Span part(int thread) const {
    const auto at = [&](int number) {
      return keys_.size() * static_cast<std::size_t>(number) /
             static_cast<std::size_t>(world_.threads);
    };
    return {at(thread), at(thread + 1) - at(thread)};
  }

  OpenMpWorld& world_;
  const Problem& problem_;
  std::vector<int> keys_, sorted_, below_;
  /// Start of each bucket among the sorted keys.
  std::vector<int> buckets_;
  std::vector<Own> teams_;
  int right_ = 0;
};

}  // namespace nhalf::npb::is

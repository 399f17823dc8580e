// A program whose calls learn, on a machine whose times are given.
#pragma once

#include <map>
#include <random>
#include <set>

#include "interposer/lessons.hpp"

namespace nhalf::coll::given {

inline constexpr double call_s = 1e-6;

/// A program that calls one operation on one communicator, on a machine whose times are given.
class Program {
 public:
  explicit Program(unsigned seed = 1, Operation first_operation = Operation::allreduce,
                   const LessonFile* start = nullptr)
      : operation(first_operation), random_(seed), lessons_(2, start) {}

  /// What it calls; other operations may follow.
  Operation operation;
  /// Draws times around their means: a call takes a mean, or a thousand times that if it is
  /// interrupted.
  double noise_share = 0, interrupted_share = 0;
  /// The first calls by the other way in a row take another share of the library's own time.
  int ahead = 0;
  double ratio_ahead = 1;
  /// The first calls by the library's own after others take so many times as long.
  int settling = 0;
  double ratio_settling = 1;
  /// The first calls by the library's own touch pages and take so many times as long; nobody can
  /// tell where they are said to touch none.
  int warming = 0;
  double ratio_warming = 1;
  bool tells_touches = true;
  /// What single copies take of the library's own time; 0 where ranks cannot copy.
  double ratio_single_copy = 0;
  /// What streaming stores and leaders take of it; 0 where they cannot be.
  double ratio_streaming = 0, ratio_hierarchical = 0;
  double own_s = 0, taken_s = 0;
  int others = 0, single_copies = 0;
  std::map<int, int> calls_by_way;
  /// Further ways and smallest sizes of which the learners asked whether they are open.
  std::set<std::pair<int, std::uint64_t>> asked;

  /// Calls `calls` times with this size, where the other way takes `ratio` of the library's own.
  void call(int calls, double ratio, std::uint64_t size_bytes = 1024, double mean_s = call_s) {
    for (int i = 0; i < calls; ++i) {
      const double own_time_s = mean_s * drawn();
      Contest* contest = lessons_.of(operation, size_bytes);
      Learner* learner = contest != nullptr ? &contest->in_charge() : nullptr;
      const bool is_other = learner != nullptr && learner->is_other();
      in_row_ = is_other ? in_row_ + 1 : 0;
      since_other_ = is_other ? 0 : since_other_ + 1;
      const int way = is_other ? contest->way() : way::native;
      const double steady = way > way::shared_memory ? ratio_of_way(way) : ratio;
      const double now = in_row_ > ahead ? steady : ratio_ahead;
      const bool is_warming = !is_other && own_calls_++ < warming;
      const double own_now =
          (since_other_ > settling ? 1 : ratio_settling) * (is_warming ? ratio_warming : 1);
      const double time_s = is_other ? mean_s * now * drawn() : own_now * own_time_s;
      own_s += own_time_s;
      taken_s += time_s;
      others += is_other ? 1 : 0;
      single_copies += way == way::single_copy ? 1 : 0;
      ++calls_by_way[way];
      if (learner == nullptr) continue;
      if (is_warming && tells_touches && learner->may_warm_up()) learner->add_first_touches(1);
      if (learner->is_timed()) learner->add(time_s);
      if (learner->count()) advance(*contest);
    }
  }
  [[nodiscard]] bool is_other(std::uint64_t size_bytes = 1024) {
    return lessons_.of(operation, size_bytes)->in_charge().is_other_better();
  }

 private:
  [[nodiscard]] double ratio_of_way(int way) const {
    return way == way::single_copy ? ratio_single_copy
           : way == way::streaming ? ratio_streaming
                                   : ratio_hierarchical;
  }
  double drawn() {
    std::lognormal_distribution<double> spread(0, noise_share);
    std::bernoulli_distribution interrupts(interrupted_share);
    return (noise_share > 0 ? spread(random_) : 1) * (interrupts(random_) ? 1000 : 1);
  }
  void advance(Contest& contest) {
    const Spent spent = contest.in_charge().spent();
    lessons_.advance(operation, contest, spent, true, [&](int way, std::uint64_t size_bytes) {
      asked.insert({way, size_bytes});
      return ratio_of_way(way) > 0;
    });
  }

  std::mt19937 random_;
  int in_row_ = 0, since_other_ = 1000, own_calls_ = 0;
  Lessons lessons_;
};

}  // namespace nhalf::coll::given

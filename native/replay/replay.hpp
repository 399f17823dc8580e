// Replay of a timeline: each rank makes its calls, which cost the times of a machine.
//
// Time outside MPI is taken as measured. A message arrives the machine's message time after its
// send began; a large one as large_messages.hpp says. A collective operation ends its cost after
// the last rank arrived; one from a root its cost after the root arrived; in one to a root only the
// root waits. A nonblocking one ends when it is waited for, and takes what did not go on before. A
// wait also takes its shortest measured time. Messages do not slow each other down, but by
// contention that is given.
#pragma once

#include <functional>

#include "replay/actor.hpp"
#include "replay/arrivals.hpp"
#include "replay/large_messages.hpp"

namespace nhalf::replay {
/// One replay of columns that fit each other.
class Replay {
 public:
  Replay(const Script& script, const Costs& costs, const Contention& contention)
      : script_(script),
        costs_(costs),
        contention_(contention),
        rounds_(static_cast<Number>(script.rank.size)),
        arrivals_(script, costs, contention, rounds_),
        operations_(script, rounds_),
        actors_(static_cast<std::size_t>(script.rank.size)),
        unfinished_(script.rank.size) {
    for (Number number = 0; number < script.rank.size; ++number) begin(number);
    std::ranges::sort(of_rank_);
    const auto any = [](const auto& column, auto is_true) {
      return std::any_of(column.data, column.data + column.size, is_true);
    };
    if (any(script.always_waits, std::identity{}) ||
        any(script.size_bytes, [&](auto size) { return size >= costs.rendezvous_bytes; }))
      large_.emplace(script, [this](Number rank, double from_s) { return inside_s(rank, from_s); });
  }

  void run(Answer& answer) {
    for (Number number = 0;;) {
      while (rounds_.take(number)) advance(actor_of(number), answer);
      if (unfinished_ == 0) break;
      if (!transfer() && !force(answer)) skip();
    }
    for (auto& actor : actors_) {
      const double after_s = script_.after_s[actor.number] * costs_.computing_ratio;
      actor.spent.computing_s += after_s;
      actor.spent.end_s = actor.now_s + after_s;
      answer.spent[actor.number] = actor.spent;
    }
  }

 private:
  using Stage = Actor::Stage;

  Actor& actor_of(Number number) { return actors_[static_cast<std::size_t>(number)]; }

  void begin(Number number) {
    auto& actor = actor_of(number);
    actor.number = number;
    actor.now_s = script_.begin_s[number];
    actor.step = actor.first = script_.first[number];
    actor.end = script_.first[number + 1];
    const auto pairs_before = [&](const Column<const Number>& steps) {
      const auto all = std::span(steps.data, static_cast<std::size_t>(steps.size));
      const auto place =
          std::ranges::lower_bound(all, actor.first, {}, [](Number step) { return Place{step}; }) -
          all.begin();
      return Pairs{place, place};
    };
    actor.awaited = pairs_before(script_.awaiting);
    actor.ended = pairs_before(script_.ending);
    of_rank_.emplace_back(script_.rank[number], number);
  }

  [[nodiscard]] bool is_large_at_all(Place message) const {
    return script_.always_waits[message] ||
           script_.size_bytes[script_.route[message]] >= costs_.rendezvous_bytes;
  }

  [[nodiscard]] bool is_large(Number message) const { return large_ && is_large_at_all(message); }

  [[nodiscard]] bool has(Place step, std::uint8_t trait) const {
    return script_.traits[script_.form[step]] & trait;
  }

  [[nodiscard]] Kind kind(Place step) const { return script_.kind[script_.form[step]]; }

  /// When a rank is inside MPI from a moment on, in any thread; that moment if it never is.
  [[nodiscard]] double inside_s(Number rank, double from_s) const {
    std::optional<double> earliest_s;
    for (auto own = std::ranges::lower_bound(of_rank_, std::pair(rank, Number{0}));
         own != of_rank_.end() && own->first == rank; ++own) {
      const auto& actor = actors_[static_cast<std::size_t>(own->second)];
      const auto moment_s = actor.calls.inside_s(from_s, actor.now_s, actor.has_more());
      if (moment_s && (!earliest_s || *moment_s < *earliest_s)) earliest_s = moment_s;
    }
    return earliest_s.value_or(from_s);
  }

  /// Does as many steps of an actor as possible now.
  void advance(Actor& actor, Answer& answer) {
    const double* before_s = script_.before_s[actor.number];
    for (; actor.has_more(); ++actor.step) {
      const Place step = actor.step;
      if (actor.stage == Stage::before) {
        const double seconds = before_s[step - actor.first] * costs_.computing_ratio;
        actor.now_s += seconds;
        actor.spent.computing_s += seconds;
        prepare(actor);
      }
      actor.stage = Stage::begun;
      const double begin_s = actor.now_s;
      if (!act(actor)) return;
      actor.stage = Stage::before;
      if (large_ && has(step, Traits::progresses)) actor.calls.add(begin_s, actor.now_s);
      if (answer.begins_s.empty()) continue;
      answer.begins_s[step] = begin_s;
      answer.ends_s[step] = actor.now_s;
    }
    --unfinished_;
  }

  /// Finds what a step completes, and arrives at an operation.
  void prepare(Actor& actor) {
    actor.arrived = 0;
    switch (kind(actor.step)) {
      case Kind::wait:
        actor.awaited.find(script_.awaiting, actor.step);
        actor.ended.find(script_.ending, actor.step);
        break;
      case Kind::collective:
        operations_.arrive(script_.subject[actor.step], actor.now_s);
        break;
      default:
        break;
    }
  }

  /// Does an actor's step if possible and moves its clock; false if it has to wait.
  bool act(Actor& actor) {
    const Number subject = script_.subject[actor.step];
    switch (kind(actor.step)) {
      case Kind::wait:
        return take(actor, {script_.awaited.data + actor.awaited.begin,
                            static_cast<std::size_t>(actor.awaited.end - actor.awaited.begin)});
      case Kind::collective:
        return has(actor.step, Traits::begins) || attend(actor, subject);
      case Kind::send:
        return subject < 0 || send(actor, subject);
      default:
        break;
    }
    if (subject >= 0 && is_large(subject)) large_->post(subject, actor.now_s);
    return kind(actor.step) == Kind::post || subject < 0 || take(actor, {&subject, 1});
  }

  bool wait_for_message(Actor& actor, Number message) {
    actor.stage = Stage::waits_for_message;
    actor.thing = message;
    arrivals_.waiters().add(message, actor.number);
    return false;
  }

  bool wait_for_operation(Actor& actor, Number part) {
    actor.stage = Stage::waits_for_operation;
    actor.thing = script_.operation[part];
    operations_.waiters().add(actor.thing, actor.number);
    return false;
  }

  [[nodiscard]] double sending_s(Number message) const {
    const double cost_s = costs_.sending_s[script_.route[message]];
    return contention_.sending_s.empty() ? cost_s : cost_s + contention_.sending_s[message];
  }

  [[nodiscard]] double receiving_s(Number message) const {
    const double cost_s = costs_.receiving_s[script_.route[message]];
    return contention_.receiving_s.empty() ? cost_s : cost_s + contention_.receiving_s[message];
  }

  bool send(Actor& actor, Number message) {
    const double busy_s = sending_s(message);
    if (!is_large(message)) {
      arrivals_.send(message, actor.now_s);
      actor.spent.messages_s += busy_s;
      actor.now_s += busy_s;
      return true;
    }
    large_->offer(message, actor.now_s);
    if (!has(actor.step, Traits::blocks)) {
      actor.pending_sends_s += busy_s;
      return true;
    }
    if (!arrivals_.is_known(message)) return wait_for_message(actor, message);
    actor.spend(arrivals_.at_s(message), costs_.way_s[script_.route[message]]);
    return true;
  }

  /// Waits until messages have arrived, and takes them in the order of arrival. Large sends and
  /// operations that the call completes are waited for as well.
  bool take(Actor& actor, std::span<const Number> messages) {
    for (; actor.arrived < std::ssize(messages); ++actor.arrived)
      if (const auto message = messages[static_cast<std::size_t>(actor.arrived)];
          !arrivals_.is_known(message))
        return wait_for_message(actor, message);
    const auto sends = large_ ? completed_sends(actor) : std::span<const Number>{};
    for (const auto message : sends)
      if (!arrivals_.is_known(message)) return wait_for_message(actor, message);
    if (const auto part = missing_operation(actor)) return wait_for_operation(actor, *part);
    const double now_s = actor.now_s;
    double own_s = costs_.wait_s[script_.form[actor.step]] + actor.pending_sends_s;
    double end_s = now_s + own_s;
    actor.pending_sends_s = 0;
    for (const auto message : arrivals_.in_order(messages)) {
      const double arrived_s = arrivals_.at_s(message);
      // What is large and there was taken by an earlier call.
      const bool is_taken = large_ && arrived_s <= now_s && large_->was_offered(message);
      const double busy_s = is_taken ? 0.0 : receiving_s(message);
      end_s = std::max(end_s + busy_s, arrived_s);
      own_s += busy_s;
    }
    for (const auto message : sends) end_s = std::max(end_s, arrivals_.at_s(message));
    actor.spend(end_s, own_s);
    for_each_operation(actor, [&](Number part) {
      end_operation(actor, part, *operations_.last_s(part), hidden_s(actor, part, now_s));
      return true;
    });
    return true;
  }

  /// The large sends that a step completes, until the next call of this.
  std::span<const Number> completed_sends(const Actor& actor) {
    sends_.clear();
    const auto add = [&](Place step) {
      const Number message = script_.subject[step];
      if (kind(step) == Kind::send && message >= 0 && large_->was_offered(message))
        sends_.push_back(message);
    };
    if (kind(actor.step) == Kind::wait) {
      for (Place pair = actor.ended.begin; pair < actor.ended.end; ++pair) add(script_.ended[pair]);
    } else if (kind(actor.step) == Kind::receive && actor.step > actor.first &&
               has(actor.step, Traits::both_ways) && has(actor.step - 1, Traits::both_ways)) {
      add(actor.step - 1);
    }
    return sends_;
  }

  /// Calls `visit` with the parts that a wait completes, until it returns false.
  template <class Visit>
  void for_each_operation(const Actor& actor, Visit visit) const {
    if (kind(actor.step) != Kind::wait) return;
    for (Place pair = actor.ended.begin; pair < actor.ended.end; ++pair)
      if (const Place step = script_.ended[pair];
          kind(step) == Kind::collective && !visit(script_.subject[step]))
        return;
  }

  /// A part of those that a wait completes for which others are missing.
  std::optional<Number> missing_operation(const Actor& actor) {
    std::optional<Number> missing;
    for_each_operation(actor, [&](Number part) {
      if (!operations_.last_s(part)) missing = part;
      return !missing;
    });
    return missing;
  }

  /// Waits in an operation that blocks.
  bool attend(Actor& actor, Number part) {
    const auto last_s = operations_.last_s(part);
    if (!last_s) return wait_for_operation(actor, part);
    double hidden_s = 0;
    if (!costs_.hidden_s.empty())
      hidden_s = std::clamp(actor.now_s - *last_s, 0.0, costs_.hidden_s[script_.work[part]]);
    end_operation(actor, part, *last_s, hidden_s);
    return true;
  }

  /// What went on of an operation before a wait that begins now; that of several is done in turn.
  double hidden_s(Actor& actor, Number part, double now_s) {
    if (costs_.hidden_s.empty()) return 0.0;
    const double most_s = costs_.hidden_s[script_.work[part]];
    const double from_s = std::max(*operations_.last_s(part), actor.hidden_until_s);
    const double hidden_s = std::clamp(now_s - from_s, 0.0, most_s);
    if (hidden_s > 0) actor.hidden_until_s = from_s + hidden_s;
    return hidden_s;
  }

  void end_operation(Actor& actor, Number part, double last_s, double hidden_s) {
    if (last_s > actor.now_s) {
      actor.spent.waiting_s += last_s - actor.now_s;
      actor.now_s = last_s;
    }
    const auto spend = [&](double seconds) {
      actor.spent.operations_s += seconds;
      actor.now_s += seconds;
    };
    spend(costs_.work_s[script_.work[part]] - hidden_s);
    if (!contention_.operation_s.empty()) spend(contention_.operation_s[part]);
  }

  /// Lets the large message that can go first arrive; false if none can. All actors are stuck.
  bool transfer() {
    const auto first = large_ ? large_->first() : std::nullopt;
    if (!first) return false;
    const double way_s = costs_.way_s[script_.route[first->message]];
    const auto opposite = large_->crossing(first->message, first->begin_s + way_s);
    for (const auto& moving : {first, opposite}) {
      if (!moving) continue;
      const auto route = script_.route[moving->message];
      double time_s = costs_.way_s[route];
      if (opposite) time_s = std::max(time_s, costs_.crossing_s[route]);
      arrivals_.arrive(moving->message, moving->begin_s + time_s);
    }
    return true;
  }

  /// The messages that keep an actor at its step because they are still offered.
  std::span<const Number> held_by(const Actor& actor) {
    if (kind(actor.step) == Kind::send) {
      sends_.assign(1, script_.subject[actor.step]);
    } else {
      completed_sends(actor);
    }
    std::erase_if(sends_, [&](Number message) { return !large_->is_offered(message); });
    return sends_;
  }

  /// Releases the earliest waiting send, as a library with larger buffers would.
  bool force(Answer& answer) {
    if (!large_) return false;
    Actor* earliest = nullptr;
    for (auto& actor : actors_)
      if (actor.has_more() && !held_by(actor).empty() &&
          (!earliest || actor.now_s < earliest->now_s))
        earliest = &actor;
    if (!earliest) return false;
    answer.forced += kind(earliest->step) == Kind::send;
    for (const auto message : held_by(*earliest)) {
      large_->forget(message);
      arrivals_.arrive(message, earliest->now_s + costs_.way_s[script_.route[message]]);
    }
    return true;
  }

  /// A truncated trace may lack what ranks wait for: they continue after the measured time.
  void skip() {
    Actor* earliest = nullptr;
    for (auto& actor : actors_)
      if (actor.has_more() && (!earliest || actor.now_s < earliest->now_s)) earliest = &actor;
    auto& actor = *earliest;
    const bool is_message = actor.stage == Stage::waits_for_message;
    auto& waiters = is_message ? arrivals_.waiters() : operations_.waiters();
    waiters.remove(actor.thing, actor.number);
    actor.spend(actor.now_s + script_.measured_s[actor.number][actor.step - actor.first], 0.0);
    ++actor.step;
    actor.stage = Stage::before;
    if (large_) large_->renew();
    rounds_.wake(actor.number);
  }

  const Script& script_;
  const Costs& costs_;
  const Contention& contention_;
  Rounds rounds_;
  Arrivals arrivals_;
  Operations operations_;
  std::vector<Actor> actors_;
  Place unfinished_;
  /// Ranks with their actors.
  std::vector<std::pair<Number, Number>> of_rank_;
  std::optional<LargeMessages> large_;
  std::vector<Number> sends_;
};
}  // namespace nhalf::replay

#include "replay/replay.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "replay/checks.hpp"

namespace {

using namespace nhalf::replay;

template <class T>
Column<const T> of(const std::vector<T>& values) {
  return {values.data(), static_cast<Place>(values.size())};
}

/// Two ranks: the first one computes for 2 s and sends, the second one receives. A message takes
/// 3 s, of which either end is busy for 1 s.
struct OneMessage {
  std::vector<Number> rank{0, 1}, form{0, 1}, subject{0, 0}, none, route{0}, source{0}, target{1};
  std::vector<double> begin_s{0, 0}, after_s{0.5, 0}, sender_s{2}, receiver_s{1}, measured_s{7};
  std::vector<const double*> before{sender_s.data(), receiver_s.data()};
  std::vector<const double*> measured{measured_s.data(), measured_s.data()};
  std::vector<Place> first{0, 1, 2};
  std::vector<Kind> kind{Kind::send, Kind::receive};
  std::vector<std::uint8_t> traits{Traits::blocks, Traits::progresses}, always_waits{0}, no_bits;
  std::vector<std::int64_t> size_bytes{8};
  std::vector<Role> role;
  std::vector<double> way_s{3}, crossing_s{3}, busy_s{1}, work_s, hidden_s, wait_s{0, 0};
  std::int64_t rendezvous_bytes = 100;

  template <class Use>
  auto with(Use use) const {
    const Script script{
        of(rank),         of(begin_s), of(after_s), {before.data(), 2}, {measured.data(), 2},
        of(first),        of(kind),    of(traits),  of(form),           of(subject),
        of(none),         of(none),    of(none),    of(none),           of(route),
        of(always_waits), of(source),  of(target),  of(size_bytes),     of(none),
        of(none),         of(role),    of(no_bits)};
    const Costs costs{of(way_s),    of(crossing_s), of(busy_s),       of(busy_s), of(work_s),
                      of(hidden_s), of(wait_s),     rendezvous_bytes, 1};
    return use(script, costs);
  }

  const char* run(std::vector<Spent>& spent) const {
    return with([&](const Script& script, const Costs& costs) {
      spent.assign(2, {});
      Answer answer{{spent.data(), 2}, {}, {}, 0};
      const char* found = misfit(script, costs, {}, answer);
      if (found) return found;
      const Contention nothing{};
      Replay(script, costs, nothing).run(answer);
      return found;
    });
  }
};

TEST_CASE("a receiver waits for its message, and a sender for nobody") {
  std::vector<Spent> spent;
  REQUIRE(OneMessage{}.run(spent) == nullptr);
  CHECK(spent[0].end_s == doctest::Approx(2 + 1 + 0.5));
  CHECK(spent[0].computing_s == doctest::Approx(2.5));
  CHECK(spent[1].end_s == doctest::Approx(2 + 3));
  CHECK(spent[1].messages_s == doctest::Approx(1));
  CHECK(spent[1].waiting_s == doctest::Approx(3));
}

TEST_CASE("a large send waits for its receive") {
  OneMessage late;
  late.rendezvous_bytes = 8;
  late.receiver_s[0] = 10;
  std::vector<Spent> spent;
  REQUIRE(late.run(spent) == nullptr);
  CHECK(spent[0].end_s == doctest::Approx(10 + 3 + 0.5));
  CHECK(spent[1].end_s == doctest::Approx(10 + 3));
}

/// One rank begins an operation that takes 4 s, computes, and waits for it.
double end_of_begun_s(double computing_s, double hidden_s) {
  const std::vector<Number> rank{0}, form{0, 1}, subject{0, -1}, none, wait{1}, begun{0},
      first_one{0};
  const std::vector<double> zero{0}, before_s{1, computing_s}, measured_s{0, 0}, no_s, work_s{4};
  const std::vector<double> hidden{hidden_s}, wait_s{0, 0};
  const std::vector<const double*> before{before_s.data()}, measured{measured_s.data()};
  const std::vector<Place> first{0, 2};
  const std::vector<Kind> kind{Kind::collective, Kind::wait};
  const std::vector<std::uint8_t> traits{Traits::begins, Traits::progresses}, no_bits, no_root{0};
  const std::vector<std::int64_t> no_sizes;
  const std::vector<Role> role{Role::all};
  const Script script{of(rank),      of(zero), of(zero),   {before.data(), 1}, {measured.data(), 1},
                      of(first),     of(kind), of(traits), of(form),           of(subject),
                      of(none),      of(none), of(wait),   of(begun),          of(none),
                      of(no_bits),   of(none), of(none),   of(no_sizes),       of(first_one),
                      of(first_one), of(role), of(no_root)};
  const Costs costs{of(no_s),   of(no_s),   of(no_s), of(no_s), of(work_s),
                    of(hidden), of(wait_s), 1,        1};
  std::vector<Spent> spent(1);
  Answer answer{{spent.data(), 1}, {}, {}, 0};
  CHECK(misfit(script, costs, {}, answer) == nullptr);
  const Contention nothing{};
  Replay(script, costs, nothing).run(answer);
  return spent[0].end_s;
}

TEST_CASE("what goes on of an operation while its rank computes is hidden") {
  CHECK(end_of_begun_s(2, 0) == doctest::Approx(1 + 2 + 4));
  CHECK(end_of_begun_s(2, 3) == doctest::Approx(1 + 4));
  CHECK(end_of_begun_s(5, 3) == doctest::Approx(1 + 5 + 1));
  CHECK(end_of_begun_s(0, 3) == doctest::Approx(1 + 4));
}

TEST_CASE("what nobody sends is skipped after the measured time") {
  OneMessage lost;
  lost.subject[0] = -1;
  std::vector<Spent> spent;
  REQUIRE(lost.run(spent) == nullptr);
  CHECK(spent[1].end_s == doctest::Approx(1 + 7));
}

TEST_CASE("what a message took beyond its costs is the way's, if its receiver waited for it") {
  const OneMessage one;
  std::vector<double> begins_s{2, 1}, ends_s{9, 7}, occupancy_s{0};
  std::vector<double> sending_s{0}, receiving_s{0}, way_s{0};
  std::vector<Number> before{0};
  const auto beyond = [](auto& values) { return Column{values.data(), Place{1}}; };
  Beyond answer{beyond(sending_s), beyond(receiving_s), beyond(way_s), beyond(before)};
  one.with([&](const Script& script, const Costs& costs) {
    const Observed observed{of(occupancy_s), of(begins_s), of(ends_s)};
    REQUIRE(checks::observed(script, costs, observed, answer) == nullptr);
    Observation(script, costs, observed, answer).run();
  });
  CHECK(sending_s[0] == 7 - 1);
  CHECK(receiving_s[0] == 0);
  CHECK(way_s[0] == 7 - 2 - 3);
  CHECK(before[0] == -1);
}

TEST_CASE("columns that lead out of others are refused") {
  std::vector<Spent> spent;
  OneMessage subject, route, first, wait, hidden;
  subject.subject[1] = 1;
  CHECK(subject.run(spent) == std::string("subjects"));
  route.route[0] = 1;
  CHECK(route.run(spent) == std::string("messages"));
  first.first[1] = 3;
  CHECK(first.run(spent) == std::string("actors"));
  wait.wait_s.pop_back();
  CHECK(wait.run(spent) == std::string("costs"));
  hidden.hidden_s.assign(1, 0.5);
  CHECK(hidden.run(spent) == std::string("costs"));
}

}  // namespace

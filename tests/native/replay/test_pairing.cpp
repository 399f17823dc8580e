// Sends and receives of a timeline, and operations, by number.
#include "replay/pairing.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace nhalf::replay;

namespace {

constexpr std::uint8_t sends = 0, receives = 1, collective = 2, waits = 4;

struct Call {
  Number rank, thread;
  std::uint8_t order;
  Number partner, tag;
  std::int64_t size_bytes;
  double start_s;
};

/// Calls as columns, and the answer to them.
class Asked {
 public:
  explicit Asked(const std::vector<Call>& calls) {
    for (const auto& call : calls) {
      ranks_.push_back(call.rank);
      threads_.push_back(call.thread);
      partners_.push_back(call.partner);
      communicators_.push_back(7);
      tags_.push_back(call.tag);
      starts_s_.push_back(call.start_s);
      sizes_.push_back(call.size_bytes);
      orders_.push_back(call.order);
    }
    for (auto* column : {&number, &message, &sent, &received, &route, &source, &target})
      column->resize(calls.size());
    size_bytes.resize(calls.size());
    const Timeline timeline{of(ranks_), of(threads_),  of(partners_), of(communicators_),
                            of(tags_),  of(starts_s_), of(sizes_),    of(orders_)};
    Pairing pairing{{number.data(), places()},
                    {message.data(), places()},
                    {sent.data(), places()},
                    {received.data(), places()},
                    {route.data(), places()},
                    {source.data(), places()},
                    {target.data(), places()},
                    {size_bytes.data(), places()},
                    0,
                    0};
    Matching matching(timeline);
    is_ordered = matching.are_ordered();
    matching.find(pairing);
    for (auto* column : {&sent, &received, &route})
      column->resize(static_cast<std::size_t>(pairing.messages));
    for (auto* column : {&source, &target})
      column->resize(static_cast<std::size_t>(pairing.routes));
    size_bytes.resize(static_cast<std::size_t>(pairing.routes));
  }

  bool is_ordered = false;
  std::vector<Number> number, message, sent, received, route, source, target;
  std::vector<std::int64_t> size_bytes;

 private:
  template <class T>
  static Column<const T> of(const std::vector<T>& values) {
    return {values.data(), static_cast<Place>(values.size())};
  }
  [[nodiscard]] Place places() const { return static_cast<Place>(ranks_.size()); }

  std::vector<Number> ranks_, threads_, partners_, communicators_, tags_;
  std::vector<double> starts_s_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::uint8_t> orders_;
};

using Numbers = std::vector<Number>;

}  // namespace

TEST_CASE("a timeline without calls has no messages") {
  const Asked asked({});
  CHECK(asked.is_ordered);
  CHECK(asked.sent.empty());
  CHECK(asked.source.empty());
}

TEST_CASE("messages with the same ends and tag keep their order, and those left over have none") {
  const Asked asked({{0, 0, sends, 1, 5, 8, 0},
                     {0, 0, sends, 1, 5, 16, 1},
                     {0, 0, sends, 1, 4, 8, 2},
                     {0, 0, sends, 1, 5, 8, 3},
                     {0, 0, sends, -1, 5, 8, 4},
                     {1, 0, receives, 0, 5, 8, 0},
                     {1, 0, waits, -2, 0, 0, 1},
                     {1, 0, receives, 0, 4, 8, 2},
                     {1, 0, receives, 0, 5, 16, 3}});
  CHECK(asked.is_ordered);
  CHECK(asked.number == Numbers{0, 1, 0, 2, 0, 0, 0, 0, 1});
  CHECK(asked.sent == Numbers{2, 0, 1});
  CHECK(asked.received == Numbers{7, 5, 8});
  CHECK(asked.message == Numbers{1, 2, 0, -1, -1, 1, -1, 0, 2});
  CHECK(asked.route == Numbers{0, 0, 1});
  CHECK(asked.source == Numbers{0, 0});
  CHECK(asked.target == Numbers{1, 1});
  CHECK(asked.size_bytes == std::vector<std::int64_t>{8, 16});
}

TEST_CASE("messages are in the order of their ends and tags, routes in that of ends and sizes") {
  const Asked asked({{0, 0, sends, 2, 3, 9, 0},
                     {0, 0, sends, 1, 1, 8, 1},
                     {0, 0, sends, 2, 2, 8, 2},
                     {1, 0, receives, 0, 1, 8, 3},
                     {2, 0, receives, 0, 3, 9, 4},
                     {2, 0, receives, 0, 2, 8, 5}});
  CHECK(asked.sent == Numbers{1, 2, 0});
  CHECK(asked.route == Numbers{0, 1, 2});
  CHECK(asked.target == Numbers{1, 2, 2});
  CHECK(asked.size_bytes == std::vector<std::int64_t>{8, 8, 9});
}

TEST_CASE("messages of many tags are told apart") {
  constexpr Number tags = 3000;
  std::vector<Call> calls;
  for (const auto& [rank, order] : {std::pair(0, sends), std::pair(1, receives)})
    for (Number tag = 0; tag < tags; ++tag) {
      const auto begin = static_cast<double>(tag);
      // The first tag is in use again and again.
      calls.push_back({rank, 0, order, 1 - rank, 0, 8, begin});
      calls.push_back({rank, 0, order, 1 - rank, tag + 1, 8, begin});
    }
  const Asked asked(calls);
  CHECK(asked.sent.size() == std::size_t{2 * tags});
  for (Number place = 0; place < tags; ++place) {
    const auto at = static_cast<std::size_t>(place);
    CHECK(asked.sent[at] == 2 * place);
    CHECK(asked.received[at] == 2 * (tags + place));
    CHECK(asked.sent[at + tags] == 2 * place + 1);
    CHECK(asked.received[at + tags] == 2 * (tags + place) + 1);
  }
}

TEST_CASE("threads of a rank send in the order of time, and count operations together") {
  const Asked asked({{0, 0, sends, 1, 0, 8, 3},
                     {0, 0, collective, -2, 0, 8, 4},
                     {0, 1, sends, 1, 0, 8, 2},
                     {0, 1, collective, -2, 0, 8, 5},
                     {1, 0, receives, 0, 0, 8, 1},
                     {1, 0, receives, 0, 0, 8, 2}});
  CHECK(asked.number == Numbers{1, 0, 0, 1, 0, 1});
  CHECK(asked.sent == Numbers{2, 0});
  CHECK(asked.received == Numbers{4, 5});
}

TEST_CASE("calls out of order are noticed, by each of their keys") {
  CHECK_FALSE(Asked({{1, 0, waits, -2, 0, 0, 0}, {0, 0, waits, -2, 0, 0, 0}}).is_ordered);
  CHECK_FALSE(Asked({{0, 1, waits, -2, 0, 0, 0}, {0, 0, waits, -2, 0, 0, 0}}).is_ordered);
  CHECK_FALSE(Asked({{0, 0, waits, -2, 0, 0, 1}, {0, 0, waits, -2, 0, 0, 0}}).is_ordered);
  CHECK_FALSE(Asked({{0, 0, waits, -2, 0, 0, 0}, {0, 0, sends, -2, 0, 0, 0}}).is_ordered);
}

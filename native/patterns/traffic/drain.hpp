// A rank that takes messages out of a queue, or out of the receives that wait for them.
#pragma once

#include "contract/messages.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {
inline constexpr AxisInfo drain_axes[] = {
    {"queue", "unexpected,posted", "",
     "unexpected: all messages are there before the first is received; posted: all receives have "
     "been started before the first message is sent, and the senders' time counts, too"},
    {"order", "in-order,reverse,any", "",
     "in which messages are received, or sent to posted receives, each by its tag; any: whichever "
     "is first, from any rank with any tag"},
    {"depth", "1:1024:x4", "", "messages in the queue, from all senders together; up to 16384"}};

inline constexpr PatternInfo drain{
    .name = "drain",
    .what =
        "rank 0 receives messages of all others that are there already, or for which it has "
        "posted its receives; the time of one of them at rank 0",
    .needs = "tagged",
    .timing = Timing::inner,
    .axes = drain_axes};

/// Each message lies in memory of its own on either side. The senders have their turn one after the
/// other, so that the order of the queue is known; with posted receives they send at once.
template <Tagged T>
class Drain : public Pattern {
 public:
  Drain(T& transport, const Case& point)
      : transport_(transport),
        is_posted_(point.choice("queue", queues) == 1),
        order_(static_cast<Order>(point.choice("order", orders))),
        depth_(point.axis("depth", 1, depth_max)),
        memory_(room_bytes(point, depth_)),
        watch_(transport) {
    const int senders = transport.size() - 1;
    for (int i = 0; i < depth_; ++i) {
      // Blocks of as many messages as there are for each sender, the first of them for rank 1.
      const int sender = 1 + i * senders / depth_;
      if (transport.rank() == 0 || transport.rank() == sender)
        messages_.push_back({transport.rank() == 0 ? sender : 0, i,
                             block_of(memory_.bytes(), i, point.size_bytes)});
    }
    const bool turns = order_ == Order::reverse && is_posted_ == (transport.rank() > 0);
    if (turns) std::ranges::reverse(messages_);
    requests_.resize(messages_.size());
  }

  void run(std::uint64_t rounds) override {
    watch_.reset();
    rounds_ = rounds;
    for (auto i = rounds; i > 0; --i) {
      if (transport_.rank() > 0) {
        deliver();
      } else if (is_posted_) {
        take_posted();
      } else {
        take_unexpected();
      }
    }
  }

  bool verify() override {
    const bool receives = transport_.rank() == 0;
    for (const auto& message : messages_) {
      fill(message.data, seed_of(message.tag));
      if (receives) invert(message.data);
    }
    run(1);
    return !receives || std::ranges::all_of(messages_, [this](const Message& message) {
      return holds(message.data, seed_of(message.tag));
    });
  }

  /// The time of one message.
  [[nodiscard]] std::optional<double> timed_s() const override {
    const auto spent_s = watch_.seconds();
    if (!spent_s) return std::nullopt;
    return *spent_s / depth_;
  }

 private:
  enum class Order { in_order, reverse, any };
  struct Message {
    int peer;
    int tag;
    Bytes data;
  };
  static constexpr std::string_view queues[] = {"unexpected", "posted"};
  static constexpr std::string_view orders[] = {"in-order", "reverse", "any"};
  static constexpr int depth_max = 16384;

  static std::size_t room_bytes(const Case& point, int depth) {
    if constexpr (requires { T::check_size(std::size_t{}); }) T::check_size(point.size_bytes);
    const auto messages = static_cast<std::size_t>(depth);
    if (memory_source.is_limited && point.size_bytes > Buffer::largest_bytes() / messages)
      throw std::bad_alloc();
    return messages * point.size_bytes;
  }

  /// Whatever is received first may be any of them.
  [[nodiscard]] std::uint32_t seed_of(int tag) const {
    return static_cast<std::uint32_t>(order_ == Order::any ? 2 : tag + 2);
  }
  [[nodiscard]] int source(const Message& message) const {
    return order_ == Order::any ? any_rank : message.peer;
  }
  [[nodiscard]] int number(const Message& message) const {
    return order_ == Order::any ? any_tag : message.tag;
  }

  /// An empty message behind others says that these are there.
  void take_unexpected() {
    for (int sender = 1; sender < transport_.size(); ++sender) {
      transport_.send(sender, ConstBytes{});
      transport_.recv(sender, Bytes{});
    }
    watch_.time([&] {
      for (const auto& message : messages_)
        transport_.recv_tagged(source(message), number(message), message.data);
    });
  }

  void take_posted() {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const auto& message = messages_[i];
      requests_[i] = transport_.irecv_tagged(source(message), number(message), message.data);
    }
    for (int sender = 1; sender < transport_.size(); ++sender)
      transport_.send(sender, ConstBytes{});
    watch_.time([&] { wait_all(transport_, std::span(requests_)); });
  }

  void deliver() {
    transport_.recv(0, Bytes{});
    for (std::size_t i = 0; i < messages_.size(); ++i)
      requests_[i] = transport_.isend_tagged(0, messages_[i].tag, messages_[i].data);
    if (!is_posted_) transport_.send(0, ConstBytes{});
    wait_all(transport_, std::span(requests_));
  }

  T& transport_;
  bool is_posted_;
  Order order_;
  int depth_;
  Buffer memory_;
  std::vector<Message> messages_;
  std::vector<typename T::Request> requests_;
  Stopwatch<T> watch_;
  std::uint64_t rounds_ = 1;
};
NHALF_PATTERN(drain, Drain);
}  // namespace nhalf

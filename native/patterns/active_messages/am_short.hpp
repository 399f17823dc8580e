// Active messages without a payload.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "patterns/bases/active_messages/active_pair.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {

inline constexpr AxisInfo am_short_axes[] = {
    {"words", "0,4", "0", "arguments of 8 bytes that request and reply have"},
    {"polling", "directed,general,flag", "directed",
     "directed: a waiting rank looks at what its peer writes; general: at the ready flags of all; "
     "flag: at one that every sender raises, then at those"}};

inline constexpr PatternInfo am_short{
    .name = "am-short",
    .what = "short active message and its reply between ranks 0 and 1; time is half of both",
    .needs = "active-messages",
    .messages_per_round = 2,
    .axes = am_short_axes,
    .sized = false};

template <ActiveMessages T>
class AmShort : public ActivePair<AmShort<T>, T> {
 public:
  AmShort(T& transport, const Case& point)
      : ActivePair<AmShort<T>, T>(transport, point), count_(words(point)) {
    transport.polling(static_cast<active::Polling>(point.choice("polling", active::polling_names)));
    for (active::Word i = 0; auto& word : words_) word = 1 + i++;
  }
  ~AmShort() override { this->transport_.polling(active::Polling::directed); }

  void request() { this->transport_.request_short(1, this->on_request(), sent()); }
  void reply(active::Token& token, active::Words words, Bytes) {
    this->transport_.reply_short(token, this->on_reply(), words);
  }
  void take(active::Words words, Bytes) { right_ = std::ranges::equal(words, sent()); }

  bool verify() override {
    right_ = !this->leads();
    this->run(1);
    return right_;
  }

 private:
  static std::size_t words(const Case& point) {
    if (point.axes.text("words").empty()) return 0;
    return static_cast<std::size_t>(point.axis("words", 0, active::words_max));
  }
  [[nodiscard]] active::Words sent() const { return active::Words(words_).first(count_); }

  std::size_t count_;
  std::array<active::Word, active::words_max> words_{};
  bool right_ = false;
};
NHALF_PATTERN(am_short, AmShort);

inline constexpr std::array<std::string_view, 2> am_first_imports{"start", "demand"};
inline constexpr AxisInfo am_first_axes[] = {
    {"import", "start,demand", "start",
     "start: rank 0 has mapped the memory of rank 1 before; demand: the request does it"}};

inline constexpr PatternInfo am_first{
    .name = "am-first",
    .what =
        "short active message to a rank whose memory may not be mapped yet, and its reply; "
        "time of both",
    .needs = "active-messages",
    .timing = Timing::inner,
    .axes = am_first_axes,
    .sized = false};

template <ActiveMessages T>
class AmFirst : public ActivePair<AmFirst<T>, T> {
 public:
  AmFirst(T& transport, const Case& point)
      : ActivePair<AmFirst<T>, T>(transport, point),
        on_demand_(point.choice("import", am_first_imports) == 1),
        watch_(transport) {}

  void run(std::uint64_t rounds) override {
    watch_.reset();
    if (!this->leads()) return ActivePair<AmFirst<T>, T>::run(rounds);
    for (auto i = rounds; i > 0; --i) {
      if (on_demand_) this->transport_.forget(1);
      watch_.time([this] { ActivePair<AmFirst<T>, T>::run(1); });
    }
  }
  [[nodiscard]] std::optional<double> timed_s() const override { return watch_.seconds(); }

  void request() { this->transport_.request_short(1, this->on_request(), {}); }
  void reply(active::Token& token, active::Words, Bytes) {
    this->transport_.reply_short(token, this->on_reply(), {});
  }
  void take(active::Words, Bytes) {}

  [[nodiscard]] bool checks_messages() const override { return false; }

  /// Whoever got here has been answered.
  bool verify() override {
    run(2);
    return true;
  }

 private:
  bool on_demand_;
  Stopwatch<T> watch_;
};
NHALF_PATTERN(am_first, AmFirst);

}  // namespace nhalf

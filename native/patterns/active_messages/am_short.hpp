#pragma once

#include <algorithm>
#include <array>

#include "patterns/bases/active_messages/active_pair.hpp"

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

}  // namespace nhalf

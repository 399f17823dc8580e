#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "contract/active_messages.hpp"
#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr std::array<std::string_view, 2> am_flood_replies{"none", "short"};
inline constexpr AxisInfo am_flood_axes[] = {
    {"reply", "none,short", "none", "whether the handler of each message replies"}};

inline constexpr PatternInfo am_flood{
    .name = "am-flood",
    .what =
        "rank 0 sends short active messages to rank 1 without a pause; time per message until "
        "all are handled",
    .needs = "active-messages",
    .rounds_min = 64,
    .axes = am_flood_axes,
    .sized = false};

template <ActiveMessages T>
class AmFlood : public Pair<T> {
 public:
  AmFlood(T& transport, const Case& point)
      : Pair<T>(transport, point),
        replies_(point.choice("reply", am_flood_replies) == 1),
        on_request_(transport.enrol(&requested, this)),
        on_reply_(transport.enrol(&replied, this)) {}
  ~AmFlood() override {
    this->transport_.dismiss(on_reply_);
    this->transport_.dismiss(on_request_);
  }

  void run(std::uint64_t rounds) override {
    if (!this->takes_part()) return;
    last_ = came_ + rounds;
    if (!this->leads()) return this->transport_.until(0, [&] { return came_ == last_; });
    for (auto i = rounds; i > 0; --i) this->transport_.request_short(1, on_request_, {&i, 1});
    this->transport_.settle(1);
    if (!replies_) came_ = last_;
  }

  /// Messages count down and arrive in their order, each once.
  bool verify() override {
    constexpr std::uint64_t some = 100;
    in_order_ = true;
    run(some);
    return in_order_ && came_ == last_;
  }

 private:
  static void requested(void* self, active::Token& token, active::Words words, Bytes) {
    auto& flood = *static_cast<AmFlood*>(self);
    if (flood.replies_) flood.transport_.reply_short(token, flood.on_reply_, words);
    count(self, token, words, {});
  }
  static void replied(void* self, active::Token& token, active::Words words, Bytes payload) {
    count(self, token, words, payload);
  }
  static void count(void* self, active::Token&, active::Words words, Bytes) {
    auto& flood = *static_cast<AmFlood*>(self);
    flood.in_order_ = flood.in_order_ && words.size() == 1 && words[0] == flood.last_ - flood.came_;
    ++flood.came_;
  }

  bool replies_;
  active::Number on_request_, on_reply_;
  std::uint64_t came_ = 0, last_ = 0;
  bool in_order_ = true;
};
NHALF_PATTERN(am_flood, AmFlood);

}  // namespace nhalf

#pragma once

#include <cstring>

#include "contract/buffer.hpp"
#include "patterns/bases/active_messages/active_pair.hpp"
#include "patterns/bases/read_lines.hpp"

namespace nhalf {

inline constexpr AxisInfo am_long_axes[] = {
    {"copy", "threshold,stores,bulk,bulk-each,bulk-hybrid", "threshold",
     "stores: the program writes word by word; bulk: a block copy to memory that was connected "
     "once; bulk-each: connected for this message; bulk-hybrid: the same by what was opened once, "
     "from a buffer, a copy more; threshold: stores for small payloads, bulk for large ones"}};

inline constexpr PatternInfo am_long{
    .name = "am-long",
    .what =
        "active message whose payload is put into the receiver's region, and a reply with the "
        "same between ranks 0 and 1; time is half of both",
    .needs = "active-messages",
    .messages_per_round = 2,
    .axes = am_long_axes};

/// Payloads stay where they were put, and handlers read them.
template <ActiveMessages T>
class AmLong : public ActivePair<AmLong<T>, T> {
 public:
  AmLong(T& transport, const Case& point)
      : ActivePair<AmLong<T>, T>(transport, point),
        method_{.copying =
                    static_cast<active::Copying>(point.choice("copy", active::copying_names))},
        region_(transport.region(point.size_bytes)) {}

  void request() { this->transport_.request_long(1, this->on_request(), {}, placed(), method_); }
  void reply(active::Token& token, active::Words words, Bytes payload) {
    take(words, payload);
    this->transport_.reply_long(token, this->on_reply(), {}, placed(), method_);
  }
  void take(active::Words, Bytes payload) { read_lines(payload); }

  bool verify() override {
    fill(region_, this->seed_of(-1));
    // Nothing may arrive before.
    this->transport_.barrier();
    this->run(1);
    return !this->takes_part() || holds(region_, this->seed_of(this->peer()));
  }

 private:
  [[nodiscard]] active::Placed placed() { return {.payload = this->out_.bytes(), .offset = 0}; }

  active::Method method_;
  Bytes region_;
};

NHALF_PATTERN(am_long, AmLong);

}  // namespace nhalf

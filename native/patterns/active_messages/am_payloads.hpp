// Active messages with a payload, which is handed over or put to its place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "contract/buffer.hpp"
#include "patterns/bases/active_messages/active_pair.hpp"
#include "patterns/bases/read_lines.hpp"

namespace nhalf {

inline constexpr AxisInfo am_medium_axes[] = {
    {"method", "two-transfers,one-transfer", "two-transfers",
     "two-transfers: the payload is moved from where it lies, then the header; one-transfer: it is "
     "copied behind a header, and both are moved at once"}};

inline constexpr PatternInfo am_medium{
    .name = "am-medium",
    .what =
        "active message whose handler is given a payload, and a reply with the same between "
        "ranks 0 and 1; time is half of both; several messages where one has not room enough",
    .needs = "active-messages",
    .messages_per_round = 2,
    .axes = am_medium_axes};

/// Handlers copy payloads to where they belong, since those are there for the handler only.
template <ActiveMessages T>
class AmMedium : public ActivePair<AmMedium<T>, T> {
 public:
  AmMedium(T& transport, const Case& point)
      : ActivePair<AmMedium<T>, T>(transport, point, messages(transport, point.size_bytes)),
        method_{.medium =
                    static_cast<active::Medium>(point.choice("method", active::medium_names))} {}

  void request() {
    const ConstBytes data = this->out_.bytes();
    const auto most_bytes = this->transport_.medium_bytes();
    std::uint64_t offset = 0;
    do {
      const auto piece = data.subspan(offset, std::min(most_bytes, data.size() - offset));
      this->transport_.request_medium(1, this->on_request(), {&offset, 1}, piece, method_);
      offset += piece.size();
    } while (offset < data.size());
  }
  void reply(active::Token& token, active::Words words, Bytes payload) {
    take(words, payload);
    const ConstBytes data = this->out_.bytes();
    const auto offset = std::min<std::uint64_t>(words.empty() ? 0 : words[0], data.size());
    const auto piece = data.subspan(offset, std::min(payload.size(), data.size() - offset));
    this->transport_.reply_medium(token, this->on_reply(), words, piece, method_);
  }
  void take(active::Words words, Bytes payload) {
    if (!words.empty()) this->place(words[0], payload);
  }

 private:
  static std::uint64_t messages(const T& transport, std::size_t size_bytes) {
    const auto most_bytes = transport.medium_bytes();
    return std::max<std::uint64_t>(1, (size_bytes + most_bytes - 1) / most_bytes);
  }

  active::Method method_;
};
NHALF_PATTERN(am_medium, AmMedium);

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

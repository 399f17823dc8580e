// Active messages: without a payload, and with one, which is handed over or put to its place.
#pragma once

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
        on_reply_(transport.enrol(&count, this)) {}
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

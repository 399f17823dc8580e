// Requests of rank 0 that rank 1 replies to, for any kind of active message.
#pragma once

#include "contract/active_messages.hpp"
#include "patterns/bases/pair.hpp"

namespace nhalf {
/// Rank 0 sends the requests of a round and waits for the replies before the next. A pattern Self
/// has `request`, which sends `requests` of them; `reply(token, words, payload)`, which rank 1's
/// handler calls, and `take(words, payload)`, which rank 0's does.
template <class Self, ActiveMessages T>
class ActivePair : public Pair<T> {
 public:
  ActivePair(T& transport, const Case& point, std::uint64_t requests = 1)
      : Pair<T>(transport, point),
        requests_(requests),
        on_request_(transport.enrol(&requested, this)),
        on_reply_(transport.enrol(&replied, this)) {}
  ~ActivePair() override {
    this->transport_.dismiss(on_reply_);
    this->transport_.dismiss(on_request_);
  }

  void run(std::uint64_t rounds) override {
    if (!this->takes_part()) return;
    T& transport = this->transport_;
    // Counted apart from what was handled: a first request may be there before this rank is.
    due_ += rounds * requests_;
    if (!this->leads()) return transport.until(0, [&] { return handled_ == due_; });
    while (handled_ != due_) {
      const auto next = handled_ + requests_;
      static_cast<Self&>(*this).request();
      transport.until(1, [&] { return handled_ == next; });
    }
  }

 protected:
  [[nodiscard]] active::Number on_request() const { return on_request_; }
  [[nodiscard]] active::Number on_reply() const { return on_reply_; }

  /// Puts a payload to its place in the buffer for what arrives.
  void place(std::uint64_t offset, ConstBytes payload) {
    const auto room = this->in_.bytes();
    if (offset > room.size() || payload.size() > room.size() - offset || payload.empty()) return;
    std::memcpy(room.data() + offset, payload.data(), payload.size());
  }

 private:
  static void requested(void* self, active::Token& token, active::Words words, Bytes payload) {
    auto& pair = *static_cast<Self*>(static_cast<ActivePair*>(self));
    pair.reply(token, words, payload);
    ++pair.handled_;
  }
  static void replied(void* self, active::Token&, active::Words words, Bytes payload) {
    auto& pair = *static_cast<Self*>(static_cast<ActivePair*>(self));
    pair.take(words, payload);
    ++pair.handled_;
  }

  std::uint64_t requests_;
  active::Number on_request_, on_reply_;
  std::uint64_t due_ = 0, handled_ = 0;
};
}  // namespace nhalf

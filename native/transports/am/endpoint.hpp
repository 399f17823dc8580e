// Active messages of one rank: requests, replies, and the polling that handles both.
#pragma once

#include "transports/am/channel.hpp"
#include "transports/bases/peer_watch.hpp"

namespace nhalf::am {
/// The table of handlers: the same at every rank, because all enrol in the same order.
class Handlers {
 public:
  /// Puts a handler into the first free place.
  active::Number add(active::Handler handler, void* context) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].handler != nullptr) continue;
      entries_[i] = {handler, context};
      return static_cast<active::Number>(i);
    }
    throw std::length_error("more than 256 handlers of active messages");
  }
  void remove(active::Number number) { entries_[number] = {}; }

  [[nodiscard]] static constexpr std::size_t size() { return 256; }
  [[nodiscard]] bool has(active::Number number) const {
    return entries_[number].handler != nullptr;
  }
  void run(active::Number number, active::Token& token, active::Words words, Bytes payload) const {
    const auto& entry = entries_[number];
    entry.handler(entry.context, token, words, payload);
  }

 private:
  struct Entry {
    active::Handler handler = nullptr;
    void* context = nullptr;
  };
  std::array<Entry, 256> entries_{};
};

/// Settings that are equal on all ranks of a run.
struct Habits {
  active::Polling polling = active::Polling::directed;
  bool import_at_start = true;
  std::size_t stores_bytes = 8192;
};

/// A request lies in the next slot that its sender has in the memory of the receiver, and so does
/// the reply: that is why a reply never waits for room, and why two ranks whose slots are all in
/// use cannot wait for each other. Requests of one rank to another are handled in their order.
class Endpoint {
 public:
  Endpoint(Peers peers, const Habits& habits, const Patience& patience)
      : peers_(std::move(peers)),
        habits_(habits),
        patience_(patience),
        payloads_(peers_, habits.stores_bytes),
        out_(peers_.layout().ranks),
        in_(peers_.layout().ranks) {
    for (std::size_t source = 0; source < in_.size(); ++source)
      in_[source].channel = Channel(peers_.layout(), peers_.command(), static_cast<int>(source));
    if (!habits.import_at_start) return;
    for (int peer = 0; peer < ranks(); ++peer) {
      out(peer);
      peers_.payload_of(peer);
    }
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] int rank() const { return peers_.rank(); }
  [[nodiscard]] int ranks() const { return static_cast<int>(in_.size()); }
  [[nodiscard]] const Layout& layout() const { return peers_.layout(); }
  [[nodiscard]] std::size_t medium_bytes() const { return layout().medium_bytes; }
  [[nodiscard]] Peers& peers() { return peers_; }

  active::Number enrol(active::Handler handler, void* context) {
    return handlers_.add(handler, context);
  }
  void dismiss(active::Number number) { handlers_.remove(number); }
  void polling(active::Polling polling) { habits_.polling = polling; }
  void forget(int peer) {
    settle(peer);
    out_[static_cast<std::size_t>(peer)].channel = {};
    peers_.forget(peer);
  }
  Bytes region(std::size_t size_bytes) {
    if (size_bytes > layout().region_bytes || !peers_.reserve(size_bytes)) throw std::bad_alloc();
    return Bytes{peers_.payload() + layout().region_at(), size_bytes};
  }

  /// Moves bytes to a place in a peer's payload segment and tells nobody.
  void put(int peer, std::size_t at, ConstBytes payload,
           active::Copying copying = active::Copying::threshold) {
    payloads_.put(peer, at, payload, copying);
  }

  void request_short(int peer, active::Number handler, active::Words words) {
    check(words, words_of(Kind::short_message), true);
    auto& out = free_slot(peer);
    out.channel.line(out.slot).write(Channel::asked(out.sent), Kind::short_message, handler, words);
    announce(out);
  }
  void request_medium(int peer, active::Number handler, active::Words words, ConstBytes payload,
                      active::Method method) {
    check(words, words_of(Kind::medium_message), payload.size() <= layout().medium_bytes);
    auto& out = free_slot(peer);
    auto& line = out.channel.line(out.slot);
    const auto sequence = Channel::asked(out.sent);
    if (payload.size() <= room_beside(words.size())) {
      line.write_whole(sequence, handler, words, payload);
    } else {
      if (method.medium == active::Medium::one_transfer) {
        payloads_.by_one_transfer(line, words, payload);
      } else {
        payloads_.copy(payload, out.channel.request(out.slot).data());
      }
      line.write(sequence, Kind::medium_message, handler, words, 0, payload.size());
    }
    announce(out);
  }
  void request_long(int peer, active::Number handler, active::Words words, active::Placed placed,
                    active::Method method) {
    check(words, words_of(Kind::long_message), fits(placed));
    put(peer, layout().region_at() + placed.offset, placed.payload, method.copying);
    auto& out = free_slot(peer);
    out.channel.line(out.slot).write(Channel::asked(out.sent), Kind::long_message, handler, words,
                                     placed.offset, placed.payload.size());
    announce(out);
  }

  void reply_short(active::Token& token, active::Number handler, active::Words words) {
    check(words, words_of(Kind::short_message), true);
    auto& in = replied(token);
    in.channel.line(in.slot).write(Channel::answered(in.served), Kind::short_message, handler,
                                   words);
    raise(token.source);
  }
  void reply_medium(active::Token& token, active::Number handler, active::Words words,
                    ConstBytes payload, active::Method method) {
    check(words, words_of(Kind::medium_message), payload.size() <= layout().medium_bytes);
    auto& in = replied(token);
    auto& line = in.channel.line(in.slot);
    const auto sequence = Channel::answered(in.served);
    if (payload.size() <= room_beside(words.size())) {
      line.write_whole(sequence, handler, words, payload);
    } else {
      payloads_.move_medium(method.medium, payload, in.channel.reply(in.slot));
      line.write(sequence, Kind::medium_message, handler, words, 0, payload.size());
    }
    raise(token.source);
  }
  void reply_long(active::Token& token, active::Number handler, active::Words words,
                  active::Placed placed, active::Method method) {
    check(words, words_of(Kind::long_message), fits(placed));
    auto& in = replied(token);
    put(token.source, layout().region_at() + placed.offset, placed.payload, method.copying);
    in.channel.line(in.slot).write(Channel::answered(in.served), Kind::long_message, handler, words,
                                   placed.offset, placed.payload.size());
    raise(token.source);
  }

  /// Handles what came from all.
  void poll() {
    if (habits_.polling == active::Polling::flag) {
      auto& came = flag_of(peers_.command());
      if (came.load(std::memory_order_relaxed) == 0) return;
      came.exchange(0, std::memory_order_acq_rel);
    }
    for (int peer = 0; peer < ranks(); ++peer) look_at(peer);
  }

  /// Polls until is_complete() holds; whatever makes it hold comes from `peer`.
  template <class Done>
  void until(int peer, Done is_complete) {
    patience_.until([&] {
      look(peer);
      return is_complete();
    });
  }
  /// Polls all ranks until `is_complete` holds.
  template <class Done>
  void until(Done is_complete) {
    patience_.until([&] {
      poll();
      return is_complete();
    });
  }

  /// Polls a peer once, and all other ranks from time to time.
  void look(int peer) {
    constexpr unsigned looks_per_poll = 64;
    if (habits_.polling == active::Polling::directed && ++looks_ % looks_per_poll != 0) {
      look_at(peer);
    } else {
      poll();
    }
  }

  void settle(int peer) {
    auto& out = out_[static_cast<std::size_t>(peer)];
    until(peer, [&] { return out.is_settled(); });
  }

  /// Whether a request to a peer would not have to wait.
  bool has_room(int peer) { return out(peer).has_room(); }

 private:
  static std::atomic<std::uint64_t>& flag_of(std::byte* command) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(command + Layout::came_at);
  }

  [[nodiscard]] bool fits(const active::Placed& placed) const {
    return lies_in(layout().region_bytes, placed.offset, placed.payload.size());
  }
  static void check(active::Words words, std::size_t most, bool payload_fits) {
    if (words.size() > most || !payload_fits) [[unlikely]]
      throw std::length_error("an active message of this kind has no room for so much");
  }

  Outgoing& out(int peer) {
    auto& out = out_[static_cast<std::size_t>(peer)];
    if (!out.channel) [[unlikely]] {
      auto* command = peers_.command_of(peer);
      out.channel = Channel(layout(), command, rank());
      out.came = &flag_of(command);
    }
    return out;
  }
  /// Returns a peer with a free `slot` for one more request.
  Outgoing& free_slot(int peer) {
    if (handling_) throw std::logic_error("a handler may only reply");
    auto& outgoing = out(peer);
    if (!outgoing.is_settled()) find_settled(peer, outgoing);
    if (!outgoing.has_room()) until(peer, [&] { return outgoing.has_room(); });
    outgoing.choose_slot();
    return outgoing;
  }
  void announce(Outgoing& out) {
    ++out.sent;
    if (habits_.polling == active::Polling::flag) out.came->store(1, std::memory_order_release);
  }
  /// The channel of the request that is being handled, to which there is a reply.
  Incoming& replied(active::Token& token) {
    if (!std::exchange(token.may_reply, false))
      throw std::logic_error("only a request is replied to, and once");
    return in_[static_cast<std::size_t>(token.source)];
  }
  /// Raises the flag of a rank that polls nothing else.
  void raise(int peer) {
    if (habits_.polling == active::Polling::flag)
      out(peer).came->store(1, std::memory_order_release);
  }

  /// Handles requests and replies of a peer.
  void look_at(int peer) {
    auto& in = in_[static_cast<std::size_t>(peer)];
    while (in.find()) serve(peer, in);
    auto& out = out_[static_cast<std::size_t>(peer)];
    if (!out.is_settled()) find_settled(peer, out);
  }
  void serve(int peer, Incoming& in) {
    active::Token token{.source = peer, .may_reply = true};
    auto& line = in.channel.line(in.slot);
    handle(line, in.channel.request(in.slot), token);
    if (token.may_reply) {
      line.write(Channel::answered(in.served), Kind::done, 0, {});
      raise(peer);
    }
    ++in.served;
  }
  void find_settled(int peer, Outgoing& out) {
    while (!out.is_settled()) {
      const auto slot = out.first_slot();
      auto& line = out.channel.line(slot);
      if (line.sequence() != Channel::answered(out.settled)) return;
      active::Token token{.source = peer, .may_reply = false};
      handle(line, out.channel.reply(slot), token);
      ++out.settled;
    }
  }

  /// Runs the handler of a message when all that its header says was found to be possible.
  void handle(const Line& line, Bytes slot, active::Token& token) {
    auto header = line.read();
    const Limits limits{slot.size(), layout().region_bytes};
    const auto wrong = fault(header, limits, handlers_.has(header.handler));
    if (!wrong.empty()) [[unlikely]]
      throw Malformed("rank " + std::to_string(rank()) + " got " + std::string(wrong) +
                      " from rank " + std::to_string(token.source));
    const auto kind = static_cast<Kind>(header.kind);
    if (kind == Kind::done) return;
    Bytes payload{};
    if (kind == Kind::medium_message) payload = payload_of(header, slot);
    if (kind == Kind::long_message)
      payload = {peers_.payload() + layout().region_at() + header.offset(), header.length_bytes()};
    const Handling handling(handling_);
    handlers_.run(header.handler, token, active::Words(header.words).first(header.count), payload);
  }

  /// Returns the payload of a medium message, whose length was checked.
  static Bytes payload_of(Header& header, Bytes slot) {
    const auto length_bytes = header.length_bytes();
    if (length_bytes > room_beside(header.count)) return slot.first(length_bytes);
    return std::as_writable_bytes(std::span(header.words).subspan(header.count))
        .first(length_bytes);
  }

  /// Marks during its lifetime that a handler runs.
  class Handling {
   public:
    explicit Handling(bool& flag) : flag_(flag) { flag_ = true; }
    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;
    ~Handling() { flag_ = false; }

   private:
    bool& flag_;
  };

  Peers peers_;
  Habits habits_;
  const Patience& patience_;
  Payloads payloads_;
  Handlers handlers_;
  std::vector<Outgoing> out_;
  std::vector<Incoming> in_;
  bool handling_ = false;
  unsigned looks_ = 0;
};
}  // namespace nhalf::am

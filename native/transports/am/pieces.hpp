// Sends and receives, piece by piece, on active messages.
#pragma once

#include "transports/am/endpoint.hpp"

namespace nhalf::am {
/// Pieces of messages as a transport pushes and pulls them (transports/bases/pending_messages.hpp).
///
/// A piece of up to 48 bytes is a short active message, one of up to medium_bytes a medium one;
/// their handler copies it to where the receive wants it or, where none does yet, into a buffer.
/// A longer piece is put into one of the receiver's chunks and told by a short message: it stays
/// there until it is pulled. There may be as many pieces that were not pulled as there are slots.
class Pieces {
 public:
  static constexpr std::size_t short_bytes = (active::words_short_max - 1) * sizeof(active::Word);

  explicit Pieces(Endpoint& endpoint)
      : endpoint_(endpoint),
        to_(static_cast<std::size_t>(endpoint.ranks())),
        from_(static_cast<std::size_t>(endpoint.ranks())),
        on_short_(enrol<&Pieces::on_short>()),
        on_medium_(enrol<&Pieces::on_medium>()),
        on_chunk_(enrol<&Pieces::on_chunk>()) {
    for (auto& peer : to_) peer.chunk_pieces.resize(layout().chunks);
    for (auto& peer : from_) peer.arrivals.resize(layout().slots);
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  /// Sends as much as fits now, and returns whether the message is complete.
  bool push(int peer, ConstBytes& remaining, bool& first) {
    endpoint_.look(peer);
    auto& to = to_[static_cast<std::size_t>(peer)];
    while (first || !remaining.empty()) {
      if (!has_room(peer, to)) return false;
      const auto piece = remaining.first(std::min(remaining.size(), piece_bytes(remaining.size())));
      if (!send(peer, to, piece)) return false;
      ++to.sent;
      remaining = remaining.subspan(piece.size());
      first = false;
    }
    return true;
  }

  /// Receives what came; whether the message is whole.
  bool pull(int peer, Bytes& remaining, bool& first) {
    auto& from = from_[static_cast<std::size_t>(peer)];
    while (from.taken != from.came && (first || !remaining.empty()))
      take(peer, from, remaining, first);
    if (!first && remaining.empty()) return true;
    {
      const Wanting wanting(from, {&remaining, &first});
      endpoint_.look(peer);
    }
    return !first && remaining.empty();
  }

  /// Whether all that was sent to a peer was pulled there.
  bool all_pulled(int peer) {
    auto& to = to_[static_cast<std::size_t>(peer)];
    to.taken =
        taken(endpoint_.peers().command_of(peer), endpoint_.rank()).load(std::memory_order_acquire);
    return to.taken == to.sent;
  }

 private:
  struct To {
    std::uint64_t sent = 0, taken = 0;
    std::uint64_t chunks_put = 0;
    /// The last piece that was put into each chunk.
    std::vector<std::uint64_t> chunk_pieces;
  };
  /// A piece that nobody wanted yet: in a chunk, or in the buffer.
  struct Arrival {
    std::size_t size_bytes = 0;
    bool in_chunk = false;
    std::size_t chunk = 0;
  };
  struct Wanted {
    Bytes* remaining = nullptr;
    bool* first = nullptr;
  };
  struct From {
    std::uint64_t came = 0, taken = 0;
    std::vector<Arrival> arrivals;
    Buffer early{0};
    Wanted wanted;
  };

  /// A receive that a handler may give to, until it leaves, by whichever way.
  class Wanting {
   public:
    Wanting(From& from, const Wanted& wanted) : from_(from) { from_.wanted = wanted; }
    Wanting(const Wanting&) = delete;
    Wanting& operator=(const Wanting&) = delete;
    ~Wanting() { from_.wanted = {}; }

   private:
    From& from_;
  };

  template <auto Member>
  active::Number enrol() {
    const auto handler = [](void* self, active::Token& token, active::Words words, Bytes payload) {
      auto& pieces = *static_cast<Pieces*>(self);
      (pieces.*Member)(pieces.from_[static_cast<std::size_t>(token.source)], token.source, words,
                       payload);
    };
    return endpoint_.enrol(handler, this);
  }
  [[nodiscard]] const Layout& layout() const { return endpoint_.layout(); }

  /// Returns the count of pulled pieces from a source, in the memory of the rank that pulls.
  std::atomic<std::uint64_t>& taken(std::byte* command, int source) const {
    const auto at = layout().taken_at(static_cast<std::size_t>(source));
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(command + at);
  }

  bool has_room(int peer, To& to) {
    if (to.sent - to.taken >= layout().slots) all_pulled(peer);
    return to.sent - to.taken < layout().slots && endpoint_.has_room(peer);
  }
  [[nodiscard]] std::size_t piece_bytes(std::size_t rest_bytes) const {
    return rest_bytes > layout().medium_bytes ? layout().chunk_bytes : layout().medium_bytes;
  }
  bool send(int peer, To& to, ConstBytes piece) {
    if (piece.size() > layout().medium_bytes) return send_chunk(peer, to, piece);
    if (piece.size() > short_bytes) {
      endpoint_.request_medium(peer, on_medium_, {}, piece, {});
      return true;
    }
    std::array<active::Word, active::words_short_max> words;
    words[0] = piece.size();
    if (!piece.empty()) std::memcpy(&words[1], piece.data(), piece.size());
    const auto count = 1 + (piece.size() + sizeof(active::Word) - 1) / sizeof(active::Word);
    endpoint_.request_short(peer, on_short_, active::Words(words).first(count));
    return true;
  }
  bool send_chunk(int peer, To& to, ConstBytes piece) {
    const auto chunk = to.chunks_put % layout().chunks;
    if (to.chunks_put >= layout().chunks && to.chunk_pieces[chunk] >= to.taken) {
      all_pulled(peer);
      if (to.chunk_pieces[chunk] >= to.taken) return false;
    }
    endpoint_.put(peer, chunk_at(endpoint_.rank(), chunk), piece);
    const active::Word words[] = {chunk, piece.size()};
    endpoint_.request_short(peer, on_chunk_, words);
    to.chunk_pieces[chunk] = to.sent;
    ++to.chunks_put;
    return true;
  }
  [[nodiscard]] std::size_t chunk_at(int source, std::size_t chunk) const {
    return layout().chunks_at(static_cast<std::size_t>(source)) + chunk * layout().chunk_bytes;
  }

  void on_short(From& from, int source, active::Words words, Bytes) {
    if (words.empty() || words[0] > (words.size() - 1) * sizeof(active::Word))
      throw Malformed("a short message is longer than its words");
    arrived(from, source, std::as_bytes(words.subspan(1)).first(words[0]));
  }
  void on_medium(From& from, int source, active::Words, Bytes payload) {
    if (payload.size() > layout().medium_bytes)
      throw Malformed("a part of a message is longer than its buffer");
    arrived(from, source, payload);
  }
  void on_chunk(From& from, int source, active::Words words, Bytes) {
    if (words.size() != 2 || words[0] >= layout().chunks || words[1] > layout().chunk_bytes)
      throw Malformed("a part of a message lies outside of its buffers");
    if (is_wanted(from, words[1])) return give(from, source, chunk(source, words[0], words[1]));
    keep(from) = {.size_bytes = words[1], .in_chunk = true, .chunk = words[0]};
  }

  void arrived(From& from, int source, ConstBytes piece) {
    if (is_wanted(from, piece.size())) return give(from, source, piece);
    auto& buffer = keep(from) = {.size_bytes = piece.size()};
    if (!piece.empty()) std::memcpy(early(from, buffer).data(), piece.data(), piece.size());
  }
  /// Whether a receive wants this very piece, and nothing before it waits.
  static bool is_wanted(const From& from, std::size_t size_bytes) {
    const auto& [remaining, first] = from.wanted;
    return remaining != nullptr && from.came == from.taken && (*first || !remaining->empty()) &&
           size_bytes <= remaining->size();
  }
  void give(From& from, int source, ConstBytes piece) {
    auto& [remaining, first] = from.wanted;
    ++from.came;
    hand_over(source, from, piece, *remaining, *first);
  }
  /// Returns a place for a piece that no receive matches yet.
  Arrival& keep(From& from) {
    if (from.came - from.taken >= layout().slots)
      throw Malformed("more messages came than there is room for");
    if (from.early.bytes().empty()) from.early = Buffer(layout().slots * layout().medium_bytes);
    return from.arrivals[from.came++ % layout().slots];
  }
  Bytes early(From& from, const Arrival& arrival) const {
    const auto place = static_cast<std::size_t>(&arrival - from.arrivals.data());
    return from.early.bytes().subspan(place * layout().medium_bytes, arrival.size_bytes);
  }
  [[nodiscard]] ConstBytes chunk(int source, std::size_t number, std::size_t size_bytes) const {
    return {endpoint_.peers().payload() + chunk_at(source, number), size_bytes};
  }

  void take(int peer, From& from, Bytes& remaining, bool& first) {
    const auto& arrival = from.arrivals[from.taken % layout().slots];
    hand_over(peer, from,
              arrival.in_chunk ? chunk(peer, arrival.chunk, arrival.size_bytes)
                               : ConstBytes(early(from, arrival)),
              remaining, first);
  }
  void hand_over(int source, From& from, ConstBytes piece, Bytes& remaining, bool& first) {
    if (piece.size() > remaining.size()) throw Malformed("a message is longer than its receive");
    if (!piece.empty()) std::memcpy(remaining.data(), piece.data(), piece.size());
    remaining = remaining.subspan(piece.size());
    first = false;
    taken(endpoint_.peers().command(), source).store(++from.taken, std::memory_order_release);
  }

  Endpoint& endpoint_;
  std::vector<To> to_;
  std::vector<From> from_;
  active::Number on_short_, on_medium_, on_chunk_;
};
}  // namespace nhalf::am

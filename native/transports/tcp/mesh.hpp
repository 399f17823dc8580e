// A connection between every two ranks of a run, and to nobody else.
#pragma once

#include <sys/random.h>

#include "host/kernel_files.hpp"
#include "host/networks.hpp"
#include "transports/tcp/socket.hpp"

namespace nhalf::tcp {
// Authenticates ranks that connect by a token of the run.

/// Random bytes, one half of which the rank that connects shows and the other half the rank that
/// accepts: a stranger who gets to see one does not know the other.
struct Token {
  using Half = std::array<std::byte, 16>;
  Half asking{}, answering{};

  /// Throws std::runtime_error where the system has no random numbers.
  static Token random() {
    Token token;
    if (getrandom(&token, sizeof token, 0) != static_cast<ssize_t>(sizeof token))
      throw std::runtime_error("the system gives no random numbers for the run's token");
    return token;
  }
};

/// The first message of either side.
struct Greeting {
  static constexpr std::uint64_t expected_magic = 0x31504354666c616eU;  // "nalfTCP1"

  std::uint64_t magic = expected_magic;
  Token::Half half{};
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  [[nodiscard]] std::array<std::byte, 32> bytes() const {
    std::array<std::byte, 32> out;
    std::memcpy(out.data(), this, out.size());
    return out;
  }
};
static_assert(sizeof(Greeting) == 32);

/// Whether two halves are the same, in a time that does not tell where they differ.
inline bool same(const Token::Half& first, const Token::Half& second) {
  std::byte difference{0};
  for (std::size_t i = 0; i < first.size(); ++i) difference |= first[i] ^ second[i];
  return difference == std::byte{0};
}

/// The rank that greets rank `to` of `ranks` with this half; none where the greeting is wrong.
inline std::optional<int> greeted_by(std::span<const std::byte, sizeof(Greeting)> bytes,
                                     const Token::Half& half, int to, int ranks) {
  Greeting greeting;
  std::memcpy(static_cast<void*>(&greeting), bytes.data(), sizeof greeting);
  if (greeting.magic != Greeting::expected_magic || !same(greeting.half, half)) return {};
  if (greeting.to != static_cast<std::uint32_t>(to)) return {};
  if (greeting.from >= static_cast<std::uint32_t>(ranks) || greeting.from == greeting.to) return {};
  return static_cast<int>(greeting.from);
}

/// Seconds within which all ranks have to be connected, and a stranger may keep one waiting.
inline constexpr double connect_timeout_s = 30, greeting_timeout_s = 1;

/// Addresses of a rank: its host, its port, and addresses in the order to try them.
struct Place {
  std::string host;
  std::uint16_t port = 0;
  std::vector<std::string> addresses;

  [[nodiscard]] std::string text() const {
    std::string all = host + " " + std::to_string(port);
    for (const auto& address : addresses) all += " " + address;
    return all;
  }
  /// Parses the result of `text`.
  static Place parse(const std::string& text) {
    Place place;
    std::istringstream words(text);
    words >> place.host >> place.port;
    for (std::string word; words >> word;) place.addresses.push_back(std::move(word));
    return place;
  }
};

/// Identifies the network namespace of this host; containers of a host have separate networks.
inline std::string host_identity() {
  char network[64] = "";
  const auto length = readlink("/proc/self/ns/net", network, sizeof network - 1);
  return boot_id() + "/" + std::string(network, length > 0 ? static_cast<std::size_t>(length) : 0);
}

/// This host's addresses that others may reach, IPv4 first; only those of one interface where it is
/// named.
inline std::vector<std::string> reachable_addresses(const std::string& interface) {
  std::vector<std::string> four, six;
  for (const auto& [address, name] : own_addresses()) {
    const bool is_local = address.starts_with("127.") || address == "::1";
    const bool needs_scope = address.starts_with("fe80:");
    if (needs_scope || (interface.empty() ? is_local : name != interface)) continue;
    (address.find(':') == std::string::npos ? four : six).push_back(address);
  }
  four.insert(four.end(), six.begin(), six.end());
  return four;
}

/// Makes the connections of one rank.
class Mesh {
 public:
  Mesh(int rank, int ranks, const Token& token) : rank_(rank), ranks_(ranks), token_(token) {}

  /// By rank the connections to all others: it connects to lower ranks and accepts higher ones.
  /// Throws std::runtime_error, with the rank, where one cannot be had.
  [[nodiscard]] std::vector<Socket> connect(const Listener& listener,
                                            const std::vector<Place>& places) const {
    std::vector<Socket> sockets(static_cast<std::size_t>(ranks_));
    for (int peer = 0; peer < rank_; ++peer)
      sockets[static_cast<std::size_t>(peer)] = reach(peer, places[static_cast<std::size_t>(peer)]);
    accept(listener, sockets);
    return sockets;
  }

 private:
  Socket reach(int peer, const Place& place) const {
    for (const auto& address : place.addresses) {
      auto socket = connected(Address::parse(address, place.port), greeting_timeout_s * 3);
      if (socket && introduce(socket, peer)) return socket;
    }
    std::string tried;
    for (const auto& address : place.addresses) tried += " " + address;
    throw std::runtime_error("rank " + std::to_string(peer) + " cannot be reached at port " +
                             std::to_string(place.port) + " of" + tried);
  }

  [[nodiscard]] bool introduce(const Socket& socket, int peer) const {
    const auto greeting = Greeting{.half = token_.asking,
                                   .from = static_cast<std::uint32_t>(rank_),
                                   .to = static_cast<std::uint32_t>(peer)};
    std::array<std::byte, sizeof(Greeting)> answer;
    if (!write_all(socket, greeting.bytes(), greeting_timeout_s)) return false;
    // The other one may be held up by strangers and by ranks before this one.
    if (!read_all(socket, answer, connect_timeout_s)) return false;
    return greeted_by(answer, token_.answering, rank_, ranks_) == peer;
  }

  void accept(const Listener& listener, std::vector<Socket>& sockets) const {
    const double until_s = steady_s() + connect_timeout_s;
    for (int missing = ranks_ - 1 - rank_; missing > 0;) {
      const double remaining_s = until_s - steady_s();
      if (remaining_s <= 0 || !listener.socket().ready(POLLIN, remaining_s)) absent(sockets);
      auto socket = listener.accept();
      if (!socket) continue;
      const auto peer = welcome(socket);
      if (!peer || *peer <= rank_ || sockets[static_cast<std::size_t>(*peer)]) continue;
      sockets[static_cast<std::size_t>(*peer)] = std::move(socket);
      --missing;
    }
  }

  /// The rank that greeted; none where it was a stranger.
  [[nodiscard]] std::optional<int> welcome(const Socket& socket) const {
    std::array<std::byte, sizeof(Greeting)> greeting;
    if (!read_all(socket, greeting, greeting_timeout_s)) return {};
    const auto peer = greeted_by(greeting, token_.asking, rank_, ranks_);
    if (!peer) return {};
    const auto answer = Greeting{.half = token_.answering,
                                 .from = static_cast<std::uint32_t>(rank_),
                                 .to = static_cast<std::uint32_t>(*peer)};
    if (!write_all(socket, answer.bytes(), greeting_timeout_s)) return {};
    return peer;
  }

  [[noreturn]] void absent(const std::vector<Socket>& sockets) const {
    int missing = rank_ + 1;
    while (missing + 1 < ranks_ && sockets[static_cast<std::size_t>(missing)]) ++missing;
    throw std::runtime_error("rank " + std::to_string(missing) + " has not connected to rank " +
                             std::to_string(rank_) + " within 30 s");
  }

  int rank_, ranks_;
  Token token_;
};
}  // namespace nhalf::tcp

// nhalf-needs: MPI
// Messages over TCP connections, one between every two ranks.
#pragma once

#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/tcp/mesh.hpp"
#include "transports/tcp/messages.hpp"

namespace nhalf {
/// Sockets of the kernel: through the loopback device on one host, through the network between
/// several. Sends do not wait for small messages to become large ones (TCP_NODELAY).
class TcpTransport : public MpiControl,
                     public StartedByMpi<TcpTransport>,
                     public MessageCollectives<TcpTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using MpiControl::gather;
  static constexpr OptionInfo described[] = {
      {"socket_bytes", "0", "B", "size of each socket's send and receive buffer; 0: the system's"},
      {"interface", "", "", "connect through this network interface, such as eth0"},
      {"port", "0", "",
       "where rank 0 listens, and rank N at this port + N; 0: the system's choice"},
      ClockError::described[0],
      ClockError::described[1]};
  static constexpr TransportInfo info{"tcp", "TCP connections between the ranks", described};

  using Request = tcp::Request;

  explicit TcpTransport(const Options& options) : MpiControl(options) {
    const auto interface = options.text("interface");
    const bool one_host = is_one_host() && interface.empty();
    const auto port = port_of(options);
    const auto listener = one_host ? tcp::Listener("127.0.0.1", size(), port)
                                   : tcp::Listener::everywhere(size(), port);
    auto place = tcp::Place{tcp::host_identity(), listener.port(), {"127.0.0.1"}};
    if (!one_host) place.addresses = tcp::reachable_addresses(interface);
    if (!all(!place.addresses.empty()))
      throw std::runtime_error("not every host has an address on interface '" + interface + "'");
    std::vector<tcp::Place> places;
    for (const auto& text : texts_of_all(*this, place.text()))
      places.push_back(tcp::Place::parse(text));
    tcp::Token token;
    if (rank() == 0) token = tcp::Token::random();
    share(*this, token);
    auto sockets = tcp::Mesh(rank(), size(), token).connect(listener, places);
    for (const auto& socket : sockets)
      if (socket) tune(socket, options.number("socket_bytes", 0));
    messages_ = tcp::Messages(rank(), std::move(sockets), everybodys(static_cast<int>(getpid())),
                              looks(place, places));
  }
  /// Nobody closes a connection before all are done.
  ~TcpTransport() {
    if (std::uncaught_exceptions() == 0) barrier();
  }

  void send(int peer, ConstBytes data) {
    auto request = isend(peer, data);
    wait(request);
  }
  void recv(int peer, Bytes data) {
    auto request = irecv(peer, data);
    wait(request);
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    auto received = irecv(from, in);
    auto sent = isend(to, out);
    wait(received);
    wait(sent);
  }
  Request isend(int peer, ConstBytes data) { return messages_.start_send(peer, data); }
  Request irecv(int peer, Bytes data) { return messages_.start_receive(peer, data); }
  void wait(Request& request) { messages_.finish(request); }
  std::size_t wait_any(std::span<Request> requests) { return messages_.finish_any(requests); }

  [[nodiscard]] std::string library() const { return "TCP sockets of the kernel"; }

 private:
  [[nodiscard]] std::uint16_t port_of(const Options& options) const {
    const int first = options.number("port", 0);
    if (first == 0) return 0;
    if (first < 1 || first + size() > 65536)
      throw InputError("ports are from 1 to 65535, one for each rank");
    return static_cast<std::uint16_t>(first + rank());
  }

  /// A peer whose host has gone without a word is noticed within 10 s.
  static void tune(const tcp::Socket& socket, int socket_bytes) {
    socket.set(IPPROTO_TCP, TCP_NODELAY, 1);
    socket.set(SOL_SOCKET, SO_KEEPALIVE, 1);
    socket.set(IPPROTO_TCP, TCP_KEEPIDLE, 3);
    socket.set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
    socket.set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    socket.set(IPPROTO_TCP, TCP_USER_TIMEOUT, 9000);
    if (socket_bytes <= 0) return;
    socket.set(SOL_SOCKET, SO_SNDBUF, socket_bytes);
    socket.set(SOL_SOCKET, SO_RCVBUF, socket_bytes);
  }

  /// Number of polls before a rank sleeps: waking takes long, but with oversubscription other ranks
  /// need the core.
  static int looks(const tcp::Place& mine, const std::vector<tcp::Place>& places) {
    const auto beside = std::ranges::count(places, mine.host, &tcp::Place::host);
    return beside <= static_cast<long>(std::thread::hardware_concurrency()) ? 2000 : 0;
  }

  tcp::Messages messages_;
};
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::TcpTransport);

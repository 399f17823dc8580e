// Whatever arrives is checked before it is used: random headers under the address sanitizer.
#include "transports/tcp/messages.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

using namespace nhalf::tcp;

namespace {

/// Both ends of a connection within this process.
std::array<Socket, 2> both_ends() {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  return {Socket(ends[0]), Socket(ends[1])};
}

/// A header that is right, wrong in some of its bits, or nothing but noise.
Header random_header(std::mt19937_64& random, std::size_t size_bytes) {
  Header header{.number = 0, .size_bytes = size_bytes};
  std::array<unsigned char, sizeof header> bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto kind = random() % 4;
  if (kind == 1) bytes[random() % bytes.size()] ^= static_cast<unsigned char>(1U << random() % 8);
  if (kind == 2) header.size_bytes = random() >> (random() % 64);
  if (kind == 3)
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  if (kind != 2) std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Whether a receiver takes a message with this header, sent in two pieces, for a right one.
bool takes(const Header& header, std::size_t posted, std::size_t sent, std::size_t cut) {
  auto [ours, theirs] = both_ends();
  std::vector<std::byte> message(sizeof header + sent);
  std::memcpy(message.data(), &header, sizeof header);
  std::vector<std::byte> room(posted);
  Connection connection(std::move(ours), 1);
  const auto number = connection.post_receive(room);
  cut = std::min(cut, message.size());
  try {
    write_all(theirs, std::span(message).first(cut), 1);
    connection.advance();
    write_all(theirs, std::span(message).subspan(cut), 1);
    connection.advance();
  } catch (const std::runtime_error&) {
    return false;
  }
  return connection.is_received(number);
}

#ifdef NHALF_FULL_TESTS
constexpr int tries = 1000000;
#else
constexpr int tries = 5000;
#endif

}  // namespace

TEST_CASE("random headers are refused or right, and nothing is written beside the message") {
  std::mt19937_64 random(1);
  int taken = 0, wrong = 0;
  for (int i = 0; i < tries; ++i) {
    const auto posted = random() % 65;
    const auto header = random_header(random, posted);
    const auto sent = random() % 129;
    const bool right =
        header.magic == Header::expected_magic && header.number == 0 && header.size_bytes == posted;
    const bool is_taken = takes(header, posted, sent, random() % 40);
    taken += is_taken ? 1 : 0;
    wrong += is_taken != (right && sent >= posted) ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(taken > tries / 20);
}

TEST_CASE("a large message goes on where it stopped") {
  auto [one, other] = both_ends();
  Connection sender(std::move(one), 1), receiver(std::move(other), 0);
  std::vector<std::byte> out(3000000, std::byte{3}), in(out.size());
  const auto sent = sender.post_send(out);
  const auto received = receiver.post_receive(in);
  CHECK_FALSE(sender.is_sent(sent));
  CHECK((sender.awaited().events & POLLOUT) != 0);
  for (int i = 0; i < 10000 && !receiver.is_received(received); ++i) {
    sender.advance();
    receiver.advance();
  }
  CHECK(sender.is_sent(sent));
  CHECK(in == out);
}

// Whoever does not know the run's token gets no connection, whatever it says.
#include "transports/tcp/mesh.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

using namespace nhalf::tcp;

namespace {

std::array<std::byte, sizeof(Greeting)> noise(std::mt19937_64& random) {
  std::array<std::byte, sizeof(Greeting)> bytes;
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

TEST_CASE("strangers are refused before, while and after ranks connect; silent ones as well") {
  const auto token = Token::random();
  std::mt19937_64 random(1);
  std::vector<Listener> listeners;
  std::vector<Place> places;
  for (int rank = 0; rank < 2; ++rank) {
    listeners.emplace_back("127.0.0.1", 8);
    places.push_back(Place{"here", listeners.back().port(), {"127.0.0.1"}});
  }
  const auto door = Address::parse("127.0.0.1", places[0].port);
  const auto loud = connected(door, 1);
  CHECK(write_all(loud, noise(random), 1));
  const auto silent = connected(door, 1);
  auto greeting = Greeting{.half = Token::random().asking, .from = 1, .to = 0};
  const auto knowing = connected(door, 1);
  CHECK(write_all(knowing, greeting.bytes(), 1));
  std::vector<Socket> of_0, of_1;
  {
    std::jthread other([&] { of_1 = Mesh(1, 2, token).connect(listeners[1], places); });
    of_0 = Mesh(0, 2, token).connect(listeners[0], places);
  }
  REQUIRE(of_0[1]);
  REQUIRE(of_1[0]);
  std::array<std::byte, 1> byte{std::byte{7}};
  CHECK(write_all(of_0[1], byte, 1));
  byte = {};
  CHECK(read_all(of_1[0], byte, 1));
  CHECK(byte[0] == std::byte{7});
  // All three were turned away without a word.
  for (const auto* stranger : {&loud, &silent, &knowing}) CHECK_FALSE(read_all(*stranger, byte, 1));
}

TEST_CASE("a rank does not take another port's owner for its peer") {
  const Listener other("127.0.0.1", 8);
  const auto token = Token::random();
  std::jthread stranger([&] {
    CHECK(other.socket().ready(POLLIN, 5));
    const auto socket = other.accept();
    std::array<std::byte, sizeof(Greeting)> said;
    // Says back what it was told: it does not know the other half.
    if (read_all(socket, said, 5)) write_all(socket, said, 5);
    CHECK(socket.ready(POLLIN, 5));
  });
  const Listener own("127.0.0.1", 8);
  const std::vector<Place> places{{"here", other.port(), {"127.0.0.1"}},
                                  {"here", own.port(), {"127.0.0.1"}}};
  CHECK_THROWS_WITH(static_cast<void>(Mesh(1, 2, token).connect(own, places)),
                    doctest::Contains("rank 0 cannot be reached at port"));
}

TEST_CASE("no random greeting is taken, nor one with a wrong rank") {
  const auto token = Token::random();
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(greeted_by(noise(random), token.asking, 0, 4));
  const auto with = [&](std::uint32_t from, std::uint32_t to) {
    return greeted_by(Greeting{.half = token.asking, .from = from, .to = to}.bytes(), token.asking,
                      0, 4);
  };
  CHECK(with(3, 0) == 3);
  CHECK_FALSE(with(4, 0));
  CHECK_FALSE(with(0, 0));
  CHECK_FALSE(with(3, 1));
  CHECK_FALSE(with(0xffffffff, 0));
}

TEST_CASE("a place is read as it was written") {
  const Place place{"a/b", 4711, {"10.0.0.1", "fd00::2"}};
  const auto read = Place::parse(place.text());
  CHECK(read.text() == place.text());
  CHECK(read.addresses.size() == 2);
  CHECK(Address::parse(read.addresses[1], 1).storage.ss_family == AF_INET6);
  CHECK(Address::parse("nowhere", 1).length == 0);
}

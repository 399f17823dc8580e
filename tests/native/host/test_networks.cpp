#include "host/networks.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

using nhalf::address_of;

namespace {

/// A connection of this process to itself, both ends open.
struct Loop {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  int caller = socket(AF_INET, SOCK_STREAM, 0);
  int answerer = -1;

  Loop() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    REQUIRE(bind(listener, any, length) == 0);
    REQUIRE(listen(listener, 1) == 0);
    REQUIRE(getsockname(listener, any, &length) == 0);
    REQUIRE(connect(caller, any, length) == 0);
    answerer = accept(listener, nullptr, nullptr);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    for (const int one : {listener, caller, answerer}) close(one);
  }
};

}  // namespace

TEST_CASE("addresses as the kernel's tables write them") {
  CHECK(address_of("0100007F:1F90") == "127.0.0.1");
  CHECK(address_of("0100630A:0016") == "10.99.0.1");
  CHECK(address_of("00000000000000000000000001000000:0016") == "::1");
  CHECK(address_of("0000000000000000FFFF00000100630A:0016") == "10.99.0.1");
  for (const char* wrong : {"", ":", "0100", "0100007G:1", "0100007F0100007F:1"})
    CHECK(address_of(wrong).empty());
}

TEST_CASE("only connections to peers are the network of a process") {
  const Loop loop;
  const auto files = nhalf::open_files();
  CHECK(nhalf::talking_addresses(files, {"127.0.0.1"}) == std::set<std::string>{"127.0.0.1"});
  CHECK(nhalf::talking_addresses(files, {"10.99.0.1"}).empty());
  CHECK(nhalf::talking_addresses({}, {"127.0.0.1"}).empty());
  const auto used = nhalf::networks_in_use({"127.0.0.1"});
  CHECK(used.networks == std::vector<std::string>{"lo"});
  CHECK(used.addresses == std::vector<std::string>{"127.0.0.1"});
}

TEST_CASE("own addresses are no peers") {
  CHECK(nhalf::own_addresses().contains("127.0.0.1"));
  const auto own = nhalf::addresses_as_text();
  CHECK(nhalf::addresses_of_peers({own, own}).empty());
  CHECK(nhalf::addresses_of_peers({own, "192.0.2.7 127.0.0.1 "}) ==
        std::set<std::string>{"192.0.2.7"});
}

TEST_CASE("files of fast networks have a device") {
  CHECK(nhalf::fabric_of("/dev/hfi1_0") == "hfi1_0");
  CHECK(nhalf::fabric_of("/dev/infiniband/uverbs77") == "uverbs77");
  CHECK(nhalf::fabric_of("socket:[4711]").empty());
  CHECK(nhalf::fabric_of("").empty());
}

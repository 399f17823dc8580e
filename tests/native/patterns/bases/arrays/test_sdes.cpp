#include "patterns/bases/arrays/sdes.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace sdes = nhalf::sdes;

TEST_CASE("subkeys and cipher texts are those of the textbook") {
  CHECK(sdes::first_subkey(0b1010000010) == 0b10100100);
  CHECK(sdes::second_subkey(0b1010000010) == 0b01000011);
  struct Vector {
    unsigned key;
    std::uint8_t plain, cipher;
  };
  constexpr Vector vectors[] = {
      {0b1010000010, 0b10111101, 0b01110101}, {0b1010000010, 0b01110010, 0b01110111},
      {0b0000000000, 0b10101010, 0b00010001}, {0b1110001110, 0b10101010, 0b11001010},
      {0b1111111111, 0b10101010, 0b00000100}, {0b0111111101, 0b10101010, 0b00010110}};
  for (const auto& [key, plain, cipher] : vectors) CHECK(sdes::encrypted(key, plain) == cipher);
}

TEST_CASE(
    "every key is a permutation of all blocks, no two keys the same one, eight self-inverse") {
  std::set<std::string> maps;
  int self_inverse = 0;
  for (unsigned key = 0; key < sdes::keys; ++key) {
    std::string map;
    bool is_own_inverse = true;
    for (unsigned plain = 0; plain < 256; ++plain) {
      const auto cipher = sdes::encrypted(key, static_cast<std::uint8_t>(plain));
      map += static_cast<char>(cipher);
      is_own_inverse = is_own_inverse && sdes::encrypted(key, cipher) == plain;
    }
    CHECK(std::set<char>(map.begin(), map.end()).size() == 256);
    maps.insert(map);
    self_inverse += is_own_inverse ? 1 : 0;
  }
  CHECK(maps.size() == sdes::keys);
  CHECK(self_inverse == 8);
}

#include "probe/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace nhalf;

TEST_CASE("members keep their order and their types") {
  const auto object = json::Object{}.add("a", 1).add("b", true).add("c", "x").add("d", 0.1).add(
      "e", json::Object{});
  CHECK(object.text() == R"({"a":1,"b":true,"c":"x","d":0.1,"e":{}})");
}

TEST_CASE("quotes, backslashes and control characters are escaped") {
  CHECK(json::quote("a\"b\\c\n\x01") == R"("a\"b\\c\u000a\u0001")");
}

TEST_CASE("numbers that JSON does not have are null") {
  CHECK(json::number(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(json::number(std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("numbers read back the same") {
  for (const double value : {1e-9, 0.1, 1.0 / 3.0, 7e-6, 123456789.123456789})
    CHECK(std::stod(json::number(value)) == value);
}

TEST_CASE("arrays of anything") {
  CHECK(json::value(std::vector<double>{}) == "[]");
  CHECK(json::value(std::vector<std::string>{"a", "b"}) == R"(["a","b"])");
}

#include "probe/session.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace nhalf;

TEST_CASE("an answer is a record, or says what was wrong with the line") {
  auto answer = [](const Options& point, const std::string& id) -> std::optional<std::string> {
    if (point.text("pattern") == "last") return std::nullopt;
    if (point.text("pattern") != "known") throw InputError("unknown");
    return id + " is answered";
  };
  CHECK(answer_to("id=7 pattern=known", answer) == "7 is answered");
  CHECK(answer_to("id=7 pattern=other", answer) == error_record("7", "unknown"));
  CHECK(answer_to("nonsense", answer) ==
        error_record("", "'nonsense' is not written as key=value"));
  CHECK(!answer_to("id=7 pattern=last", answer));
}

TEST_CASE("a point says what it wants measured, and the rest is as usual") {
  const Effort usual{.slice_s = 2, .precision = 0.1, .samples_min = 4, .samples_max = 9};
  const auto unsaid = effort_of(Options::parse("id=1", ' '), usual);
  CHECK(unsaid.slice_s == 2);
  CHECK(unsaid.precision == 0.1);
  CHECK(unsaid.samples_min == 4);
  CHECK(unsaid.samples_max == 9);
  const auto few = effort_of(Options::parse("samples_min=0 samples_max=0", ' '), usual);
  CHECK(few.samples_min == 1);
  CHECK(few.samples_max == 1);
  const auto many = effort_of(Options::parse("samples_min=20 slice_s=0.5", ' '), usual);
  CHECK(many.samples_max == 20);
  CHECK(many.slice_s == 0.5);
}

TEST_CASE("a program that gets no memory says what needs less") {
  CHECK(std::string(in_words(std::bad_array_new_length())).starts_with("not enough memory: fewer"));
  CHECK(std::string(in_words(InputError("no such axis"))) == "no such axis");
}

TEST_CASE("axes of other patterns are an error") {
  constexpr AxisInfo axes[] = {{"place", "out", "out", ""}};
  const PatternInfo info{.name = "some", .what = "", .axes = axes};
  CHECK_NOTHROW(check_axes(info, Options::parse("place=in", ',')));
  CHECK_THROWS_WITH(check_axes(info, Options::parse("placing=in", ',')),
                    "pattern some has no axis 'placing'");
}

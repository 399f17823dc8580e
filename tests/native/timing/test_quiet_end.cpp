#include "timing/sampler.hpp"

#include <doctest/doctest.h>

#include "contract/options.hpp"
#include "transports/model.hpp"

using namespace nhalf;

TEST_CASE("a rank that is done waits as long as everything took before, but for outliers") {
  ModelTransport::launch(0, nullptr, 1, Options{}, [](ModelTransport& t) {
    QuietEnd end;
    const auto waited_s = [&] {
      const double began_s = t.now_s();
      end.wait(t, began_s);
      return t.now_s() - began_s;
    };
    CHECK(waited_s() == 0);
    end.took(5e-6);
    CHECK(waited_s() == doctest::Approx(5e-6));
    end.took(1);
    CHECK(waited_s() == doctest::Approx(5e-6));
    end.took(2e-6);
    CHECK(waited_s() == doctest::Approx(2e-6));
    end.took(3e-6);
    CHECK(waited_s() == doctest::Approx(2e-6));
    const double late_s = t.now_s();
    t.idle_until(late_s + 1);
    end.wait(t, late_s);
    CHECK(t.now_s() == late_s + 1);
  });
}

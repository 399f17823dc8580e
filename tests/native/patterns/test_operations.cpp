// Every operation of all ranks, one at a time, with every start that it can have.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "roster.hpp"
#include "timing/global_clock.hpp"
#include "timing/operation_sampler.hpp"
#include "variations.hpp"

namespace nhalf::test_operations {

namespace {

/// The first value of each axis that a point has to name.
std::string needed(const PatternInfo& info, int ranks) {
  std::string axes;
  for (const auto& axis : info.axes) {
    if (!axis.fallback.empty()) continue;
    const auto values =
        variation::expanded(std::string(axis.values), {{"ranks", std::to_string(ranks)}});
    axes += "," + std::string(axis.name) + "=" + values.front();
  }
  return axes;
}

/// What went wrong when a pattern was sampled; empty where nothing did.
std::string complaint(ProbeTransport& t, GlobalClock<ProbeTransport>& clock,
                      const PatternEntry<ProbeTransport>& entry, const std::string& axes) {
  const Case point{.size_bytes = 1000,
                   .axes = Options::parse(axes + needed(entry.info, t.size()), ',')};
  const auto pattern = entry.make(t, point);
  const Effort effort{.slice_s = 1e-4, .samples_min = 2, .samples_max = 5};
  const auto found =
      OperationSampler(t, calibrate(t), effort, clock).measure(*pattern, entry.info, point);
  if (t.rank() != 0) return "";
  const auto name = std::string(entry.info.name) + " " + axes;
  if (!found.verified) return name + " is not verified; ";
  if (found.samples_s.empty() || found.stop == Stop::none) return name + " has no samples; ";
  const bool every_rank = found.rank_s.size() == static_cast<std::size_t>(t.size());
  return every_rank || axes == "start=rotating" ? "" : name + " lacks times of ranks; ";
}

}  // namespace

TEST_CASE("every operation gives samples, however it starts") {
  for (const int ranks : {2, 3}) {
    CAPTURE(ranks);
    std::string complaints;
    ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& t) {
      GlobalClock clock(t);
      for (const auto& entry : patterns<ProbeTransport>()) {
        if (entry.make == nullptr || entry.info.timing != Timing::operation) continue;
        std::vector<std::string> starts{"start=sync", "start=barrier"};
        if (entry.info.rooted) starts.emplace_back("start=rotating");
        for (const auto& start : starts) {
          const auto found = complaint(t, clock, entry, start);
          if (t.rank() == 0) complaints += found;
        }
      }
    });
    CHECK(complaints == "");
  }
}

}  // namespace nhalf::test_operations

// Replays in the library that Python loads: one call, one answer.
#include "replay/replay.hpp"

#include <new>

#include "replay/checks.hpp"

/// Replays a script. Returns nothing, or what did not fit; no memory is kept.
extern "C" __attribute__((visibility("default"))) const char* nhalf_replay(
    const nhalf::replay::Script* script, const nhalf::replay::Costs* costs,
    const nhalf::replay::Contention* contention, nhalf::replay::Answer* answer) {
  try {
    if (const char* reason = nhalf::replay::misfit(*script, *costs, *contention, *answer))
      return reason;
    nhalf::replay::Replay(*script, *costs, *contention).run(*answer);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "memory";
  }
}

/// Finds what the messages of a script took beyond their costs, and their order. Returns nothing,
/// or what did not fit; the answer is 0 before.
extern "C" __attribute__((visibility("default"))) const char* nhalf_observe(
    const nhalf::replay::Script* script, const nhalf::replay::Costs* costs,
    const nhalf::replay::Observed* observed, nhalf::replay::Beyond* beyond) {
  try {
    if (const char* reason = nhalf::replay::checks::observed(*script, *costs, *observed, *beyond))
      return reason;
    nhalf::replay::Observation(*script, *costs, *observed, *beyond).run();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "memory";
  }
}

/// Finds which calls belong together. Returns nothing, or what did not fit; "order" if calls are
/// not in theirs.
extern "C" __attribute__((visibility("default"))) const char* nhalf_pair(
    const nhalf::replay::Timeline* calls, nhalf::replay::Pairing* pairing) {
  try {
    if (const char* reason = nhalf::replay::checks::pairing(*calls, *pairing)) return reason;
    nhalf::replay::Matching matching(*calls);
    if (!matching.are_ordered()) return "order";
    matching.find(*pairing);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "memory";
  }
}

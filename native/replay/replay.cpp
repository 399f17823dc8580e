// Replays in the library that Python loads: one call, one answer.
#include "replay/replay.hpp"

#include <new>

#include "replay/checks.hpp"

namespace {
using namespace nhalf::replay;

/// What `answer` says, or that there was no memory for it.
template <class Answer>
const char* answered(Answer answer) {
  try {
    return answer();
  } catch (const std::bad_alloc&) {
    return "memory";
  }
}
}  // namespace

#define NHALF_ANSWER extern "C" __attribute__((visibility("default"))) const char*

/// Replays a script. Returns nothing, or what did not fit; no memory is kept.
NHALF_ANSWER nhalf_replay(const Script* script, const Costs* costs, const Contention* contention,
                          Answer* answer) {
  return answered([&] {
    const char* reason = misfit(*script, *costs, *contention, *answer);
    if (!reason) Replay(*script, *costs, *contention).run(*answer);
    return reason;
  });
}

/// Finds what the messages of a script took beyond their costs, and their order; the answer is 0
/// before.
NHALF_ANSWER nhalf_observe(const Script* script, const Costs* costs, const Observed* observed,
                           Beyond* beyond) {
  return answered([&] {
    const char* reason = checks::observed(*script, *costs, *observed, *beyond);
    if (!reason) Observation(*script, *costs, *observed, *beyond).run();
    return reason;
  });
}

/// Finds which calls belong together; what does not fit is "order" if calls are not in theirs.
NHALF_ANSWER nhalf_pair(const Timeline* calls, Pairing* pairing) {
  return answered([&]() -> const char* {
    if (const char* reason = checks::pairing(*calls, *pairing)) return reason;
    Matching matching(*calls);
    if (!matching.are_ordered()) return "order";
    matching.find(*pairing);
    return nullptr;
  });
}

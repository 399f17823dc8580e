// The network in the library that Python loads, which has the replays as well: one call, one
// answer.
#include <exception>
#include <new>

#include "network/concurrent.hpp"

/// Answers what messages share; with rates of them alone, what each moves. Returns nothing, or what
/// was wrong; no memory is kept.
extern "C" __attribute__((visibility("default"))) const char* nhalf_concurrent(
    const nhalf::network::Question* question) {
  try {
    nhalf::network::Concurrent concurrent(*question);
    if (!concurrent.read()) return "the description is not that of a machine";
    question->alone_Bps == nullptr ? concurrent.load() : concurrent.flow();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "memory";
  } catch (const std::exception&) {
    return "the machine is larger than can be followed";
  }
}

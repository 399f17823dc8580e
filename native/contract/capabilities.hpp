// What a transport can do beyond the least, by name.
#pragma once

#include "contract/active_messages.hpp"
#include "contract/collectives.hpp"
#include "contract/exposed_memory.hpp"
#include "contract/messages.hpp"

namespace nhalf {
/// The refinements that T satisfies, by the names that `--describe` uses.
template <Transport T>
std::vector<std::string_view> capabilities() {
  std::vector<std::string_view> names;
  if constexpr (Duplex<T>) names.push_back("duplex");
  if constexpr (NonBlocking<T>) names.push_back("non-blocking");
  if constexpr (FirstDone<T>) names.push_back("wait-any");
  if constexpr (SynchronousSend<T>) names.push_back("synchronous-send");
  if constexpr (BufferedSend<T>) names.push_back("buffered-send");
  if constexpr (AnySource<T>) names.push_back("any-source");
  if constexpr (Tagged<T>) names.push_back("tagged");
  if constexpr (ReadySend<T>) names.push_back("ready-send");
  if constexpr (OneSided<T>) names.push_back("one-sided");
  if constexpr (MappedMemory<T>) names.push_back("mapped-memory");
  if constexpr (SignallingPuts<T>) names.push_back("signalling-puts");
  if constexpr (Computing<T>) names.push_back("computing");
  if constexpr (ActiveMessages<T>) names.push_back("active-messages");
  if constexpr (SegmentLife<T>) names.push_back("segment-life");
  if constexpr (Collectives<T>) names.push_back("collectives");
  if constexpr (NonBlockingCollectives<T>) names.push_back("non-blocking-collectives");
  if constexpr (Windows<T>) names.push_back("windows");
  if constexpr (Persistent<T>) names.push_back("persistent");
  if constexpr (VaryingCollectives<T>) names.push_back("varying-collectives");
  if constexpr (NonBlockingVaryingCollectives<T>)
    names.push_back("non-blocking-varying-collectives");
  if constexpr (PersistentCollectives<T>) names.push_back("persistent-collectives");
  if constexpr (Neighbourhoods<T>) names.push_back("neighbourhoods");
  if constexpr (Partitioned<T>) names.push_back("partitioned");
  if constexpr (DataTypes<T>) names.push_back("data-types");
  if constexpr (Communicators<T>) names.push_back("communicators");
  if constexpr (ThreadMultiple<T>) names.push_back("thread-multiple");
  if constexpr (ThreadCollectives<T>) names.push_back("thread-collectives");
  if constexpr (StartUp<T>) names.push_back("start-up");
  if constexpr (Sessions<T>) names.push_back("sessions");
  if constexpr (FirstMessages<T>) names.push_back("first-messages");
  return names;
}
}  // namespace nhalf

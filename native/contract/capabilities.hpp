// SPDX-License-Identifier: Apache-2.0
// What a transport can do beyond the least, by name.
#pragma once

#include <string_view>
#include <vector>

#include "contract/active_messages.hpp"
#include "contract/any_source.hpp"
#include "contract/collectives.hpp"
#include "contract/communicators.hpp"
#include "contract/layouts.hpp"
#include "contract/neighbourhoods.hpp"
#include "contract/partitioned.hpp"
#include "contract/persistent.hpp"
#include "contract/persistent_collectives.hpp"
#include "contract/segment_life.hpp"
#include "contract/thread_multiple.hpp"
#include "contract/transport.hpp"
#include "contract/varying.hpp"
#include "contract/windows.hpp"

namespace nhalf {

/// The refinements that T satisfies, by the names that `--describe` uses.
template <Transport T>
std::vector<std::string_view> capabilities() {
  std::vector<std::string_view> found;
  if constexpr (Duplex<T>) found.push_back("duplex");
  if constexpr (NonBlocking<T>) found.push_back("non-blocking");
  if constexpr (FirstDone<T>) found.push_back("wait-any");
  if constexpr (SynchronousSend<T>) found.push_back("synchronous-send");
  if constexpr (BufferedSend<T>) found.push_back("buffered-send");
  if constexpr (AnySource<T>) found.push_back("any-source");
  if constexpr (ReadySend<T>) found.push_back("ready-send");
  if constexpr (OneSided<T>) found.push_back("one-sided");
  if constexpr (MappedMemory<T>) found.push_back("mapped-memory");
  if constexpr (SignallingPuts<T>) found.push_back("signalling-puts");
  if constexpr (Computing<T>) found.push_back("computing");
  if constexpr (ActiveMessages<T>) found.push_back("active-messages");
  if constexpr (SegmentLife<T>) found.push_back("segment-life");
  if constexpr (Collectives<T>) found.push_back("collectives");
  if constexpr (NonBlockingCollectives<T>) found.push_back("non-blocking-collectives");
  if constexpr (Windows<T>) found.push_back("windows");
  if constexpr (Persistent<T>) found.push_back("persistent");
  if constexpr (VaryingCollectives<T>) found.push_back("varying-collectives");
  if constexpr (NonBlockingVaryingCollectives<T>)
    found.push_back("non-blocking-varying-collectives");
  if constexpr (PersistentCollectives<T>) found.push_back("persistent-collectives");
  if constexpr (Neighbourhoods<T>) found.push_back("neighbourhoods");
  if constexpr (Partitioned<T>) found.push_back("partitioned");
  if constexpr (DataTypes<T>) found.push_back("data-types");
  if constexpr (Communicators<T>) found.push_back("communicators");
  if constexpr (ThreadMultiple<T>) found.push_back("thread-multiple");
  if constexpr (ThreadCollectives<T>) found.push_back("thread-collectives");
  if constexpr (StartUp<T>) found.push_back("start-up");
  return found;
}

}  // namespace nhalf

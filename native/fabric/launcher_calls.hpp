// The calls by which libraries ask their launcher for the nodes of the ranks, and tell it to end
// all of them. All are on this host; the answer is that of the virtual machine.
#pragma once

#include <stdlib.h>

#include "fabric/node_map.hpp"
#include "fabric/waits/timed_waits.hpp"
#include "preloaded/chain.hpp"

namespace nhalf::fabric {
/// Whether the library may know the nodes; one that takes shared memory within them may not.
inline bool may_know_nodes() {
  const char* text = std::getenv("NHALF_FABRIC_NODES");
  return text != nullptr && std::string_view(text) == "1" && Rank::here().open();
}

/// Where Hydra answers; -1 for a process that was started otherwise.
inline int hydras_end() {
  static const int descriptor = [] {
    const char* text = std::getenv("PMI_FD");
    return text == nullptr ? -1 : std::atoi(text);
  }();
  return descriptor;
}

/// Puts the nodes of the machine into an answer of Hydra's; returns its length.
inline ssize_t told_nodes(char* answer, ssize_t length, std::size_t room) {
  if (length <= 0 || !may_know_nodes()) return length;
  auto& rank = Rank::here();
  const std::string_view reply(answer, static_cast<std::size_t>(length));
  const auto changed = with_mapping(reply, process_mapping(rank.nodes()));
  if (!changed) return length;
  if (changed->size() > room)
    rank.stop("unsupported", "the placement has more blocks of ranks than the launcher can tell");
  std::memcpy(answer, changed->data(), changed->size());
  return static_cast<ssize_t>(changed->size());
}

/// A library found an error, and has said which. The launcher would end all ranks alike, and nobody
/// could tell which one was the first.
inline void end_for_library() {
  auto& rank = Rank::here();
  if (!rank.is_running()) return;
  std::array<char, 96> reason{};
  std::snprintf(reason.data(), reason.size(),
                "the MPI library of rank %d ended the program, and says why above", rank.number());
  rank.stop("abort", reason.data());
}

/// A value of PMIx, as far as it is read here.
struct PmixValue {
  static constexpr std::uint16_t string = 3;
  static constexpr std::uint16_t uint16 = 13;
  static constexpr std::uint16_t uint32 = 14;

  std::uint16_t type;
  union {
    char* text;
    std::uint16_t short_number;
    std::uint32_t number;
  };
};

/// Puts the nodes of the machine into an answer of PMIx.
inline void tell_nodes(std::string_view key, PmixValue& value) {
  if (!may_know_nodes()) return;
  const auto& rank = Rank::here();
  const NodeMates mates(rank.nodes(), static_cast<std::size_t>(rank.number()));
  if (key == "pmix.lpeers" && value.type == PmixValue::string) {
    std::free(value.text);
    value.text = strdup(mates.text.c_str());
  } else if (key == "pmix.local.size" && value.type == PmixValue::uint32) {
    value.number = static_cast<std::uint32_t>(mates.number);
  } else if ((key == "pmix.lrank" || key == "pmix.nrank") && value.type == PmixValue::uint16) {
    value.short_number = static_cast<std::uint16_t>(mates.place);
  }
}

/// PMIx may have been loaded with local scope, as a part of the MPI library.
inline void* pmix_call(const char* name) {
  if (void* const call = nhalf::preloaded::behind(name); call != nullptr) return call;
  void* const library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}
}  // namespace nhalf::fabric

NHALF_EXPORTED ssize_t read(int file, void* buffer, std::size_t room) {
  using namespace nhalf::fabric;
  static auto* const then = reinterpret_cast<decltype(&read)>(dlsym(RTLD_NEXT, "read"));
  const auto length = then(file, buffer, room);
  return file == hydras_end() ? told_nodes(static_cast<char*>(buffer), length, room) : length;
}

NHALF_EXPORTED ssize_t write(int file, const void* text, std::size_t length) {
  using namespace nhalf::fabric;
  static auto* const then = reinterpret_cast<decltype(&write)>(dlsym(RTLD_NEXT, "write"));
  if (file >= 0 && file == hydras_end() &&
      std::string_view(static_cast<const char*>(text), length).starts_with("cmd=abort"))
    end_for_library();
  return then(file, text, length);
}

NHALF_EXPORTED int PMIx_Abort(int code, const char* text, void* processes, std::size_t number) {
  using namespace nhalf::fabric;
  static auto* const then = reinterpret_cast<decltype(&PMIx_Abort)>(pmix_call("PMIx_Abort"));
  end_for_library();
  return then == nullptr ? -1 : then(code, text, processes, number);
}

NHALF_EXPORTED int PMIx_Get(const void* process, const char* key, const void* wishes,
                            std::size_t count, nhalf::fabric::PmixValue** value) {
  using namespace nhalf::fabric;
  static auto* const then = reinterpret_cast<decltype(&PMIx_Get)>(pmix_call("PMIx_Get"));
  if (then == nullptr) return -1;
  const int error = then(process, key, wishes, count, value);
  if (error == 0 && key != nullptr && value != nullptr && *value != nullptr)
    nhalf::fabric::tell_nodes(key, **value);
  return error;
}

/// Libraries may not wait there for other ranks: one runs at a time.
NHALF_EXPORTED int PMIx_Group_construct(const char* name, const void* processes, std::size_t number,
                                        const void* wishes, std::size_t wish_number, void** results,
                                        std::size_t* result_number) {
  using namespace nhalf::fabric;
  if (Rank::here().is_running())
    Rank::here().stop("unsupported", "MPI_Comm_create_from_group of Open MPI is not supported");
  static auto* const then =
      reinterpret_cast<decltype(&PMIx_Group_construct)>(pmix_call("PMIx_Group_construct"));
  if (then == nullptr) return -1;
  return then(name, processes, number, wishes, wish_number, results, result_number);
}

// The calls that end a program without the functions of on_exit, by which the network notes the
// exit code of a rank: which rank's code a launcher passes on depends on whose end it sees first.

NHALF_EXPORTED void _exit(int code) {
  nhalf::fabric::Rank::here().note_exit(code);
  for (;;) syscall(SYS_exit_group, code);
}

NHALF_EXPORTED void _Exit(int code) noexcept {
  _exit(code);
}

NHALF_EXPORTED void quick_exit(int code) noexcept {
  nhalf::fabric::Rank::here().note_exit(code);
  NHALF_NEXT(quick_exit)(code);
  _exit(code);
}

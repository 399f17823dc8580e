// What NCCL does with a profiler plug-in: finds the newest version that it knows, and tells it of
// operations while a bit of the plug-in's mask is set. Structures are NCCL's own, from
// src/include/plugin/profiler/profiler_v2.h, _v4.h and _v5.h; of each only collective operations
// and messages are told.
#pragma once

#include <dlfcn.h>
#include <strings.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stand_in {
struct CollectiveV2 {
  const char* name;
  std::uint64_t commHash;
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t trafficBytes;
  std::uint8_t nMaxChannels;
  std::uint8_t nWarps;
  const char* algo;
  const char* proto;
};
struct CollectiveV4 {
  std::uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t nChannels;
  std::uint8_t nWarps;
  const char* algo;
  const char* proto;
  void* parentGroup;
};
template <class Type, class Collective>
struct Descriptor {
  Type type;
  void* parentObj;
  int rank;
  union {
    Collective coll;
    char others[256];
  };
};
template <class Event, class... Init>
struct Plugin {
  const char* name;
  int (*init)(void**, Init...);
  int (*startEvent)(void*, void**, Event*);
  int (*stopEvent)(void*);
  int (*recordEventState)(void*, int, void*);
  int (*finalize)(void*);
};
using EventV2 = Descriptor<std::uint8_t, CollectiveV2>;
using EventV4 = Descriptor<std::uint8_t, CollectiveV4>;
using EventV5 = Descriptor<std::uint64_t, CollectiveV4>;
using PluginV2 = Plugin<EventV2, int*>;
using PluginV4 = Plugin<EventV4, int*, const char*, std::uint64_t, int, int, int, void*>;
using PluginV5 = Plugin<EventV5, std::uint64_t, int*, const char*, int, int, int, void*>;

class Profiler {
 public:
  void start(int nccl_version, int ranks, int rank) {
    const char* name = std::getenv("NCCL_PROFILER_PLUGIN");
    if (name == nullptr || strcasecmp(name, "none") == 0) return;
    void* plugin =
        dlopen(strcasecmp(name, "STATIC_PLUGIN") == 0 ? nullptr : name, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return;
    if (nccl_version >= 22800) v5_ = find<PluginV5>(plugin, "ncclProfiler_v5");
    if (nccl_version >= 22700 && v5_ == nullptr) v4_ = find<PluginV4>(plugin, "ncclProfiler_v4");
    if (nccl_version >= 22400 && v5_ == nullptr && v4_ == nullptr)
      v2_ = find<PluginV2>(plugin, "ncclProfiler_v2");
    if (v5_ != nullptr) v5_->init(&context_, 1, &mask_, nullptr, 1, ranks, rank, nullptr);
    if (v4_ != nullptr) v4_->init(&context_, &mask_, nullptr, 1, 1, ranks, rank, nullptr);
    if (v2_ != nullptr) v2_->init(&context_, &mask_);
  }

  /// Short ones take a tree, as NCCL's own tables have it on a few ranks.
  void collective(std::size_t size_bytes) {
    ++operations_;
    const bool is_short = size_bytes < 32768;
    CollectiveV4 told{};
    told.algo = is_short ? "TREE" : "RING";
    told.proto = is_short ? "LL" : "LL128";
    told.nChannels = is_short ? 2 : 24;
    if ((mask() & group) != 0) tell(group, {});
    if ((mask() & coll) != 0) tell(coll, told);
  }
  void message() {
    ++operations_;
    if ((mask() & p2p) != 0) tell(p2p, {});
  }

  /// Appends to the file that NHALF_STAND_IN_NCCL_EVENTS names how many were told of.
  void stop() const {
    if (v5_ != nullptr) v5_->finalize(context_);
    if (const char* name = std::getenv("NHALF_STAND_IN_NCCL_EVENTS"); name != nullptr) {
      std::FILE* file = std::fopen(name, "a");
      std::fprintf(file, "%d of %d\n", told_, operations_);
      std::fclose(file);
    }
  }

 private:
  enum : int { group = 1, coll = 2, p2p = 4 };

  template <class T>
  static T* find(void* plugin, const char* symbol) {
    return static_cast<T*>(dlsym(plugin, symbol));
  }
  [[nodiscard]] int mask() {
    return std::atomic_ref(mask_).load(std::memory_order_relaxed) | (mask_ != 0 ? group : 0);
  }

  void tell(int kind, const CollectiveV4& chosen) {
    void* handle = this;
    if (kind != group) ++told_;
    // What a union does not have stays as it was on the stack.
    if (v5_ != nullptr || v4_ != nullptr) {
      EventV5 event;
      std::memset(static_cast<void*>(&event), 0xa5, sizeof event);
      event.type = static_cast<std::uint64_t>(kind);
      if (kind == coll) event.coll = chosen;
      EventV4 older;
      std::memcpy(static_cast<void*>(&older), &event, sizeof older);
      older.type = static_cast<std::uint8_t>(kind);
      if (v5_ != nullptr) v5_->startEvent(context_, &handle, &event);
      if (v4_ != nullptr) v4_->startEvent(context_, &handle, &older);
    }
    if (v2_ != nullptr) {
      EventV2 event;
      std::memset(static_cast<void*>(&event), 0xa5, sizeof event);
      event.type = static_cast<std::uint8_t>(kind);
      if (kind == coll) {
        event.coll = {};
        event.coll.algo = chosen.algo;
        event.coll.proto = chosen.proto;
        event.coll.nMaxChannels = chosen.nChannels;
      }
      v2_->startEvent(context_, &handle, &event);
    }
    if (handle != nullptr) std::abort();
  }

  PluginV5* v5_ = nullptr;
  PluginV4* v4_ = nullptr;
  PluginV2* v2_ = nullptr;
  void* context_ = nullptr;
  int mask_ = 0, told_ = 0, operations_ = 0;
};
}  // namespace stand_in

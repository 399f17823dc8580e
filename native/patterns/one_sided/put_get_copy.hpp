// Rank 0 puts into the exposed memory of rank 1 or gets from it, and what that is compared with.
#pragma once

#include <cstring>

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo single_put{
    .name = "put",
    .what = "rank 0 puts and completes each put; what rank 1 notices of it is not in the time",
    .needs = "one-sided"};

template <OneSided T>
class Put : public RegionPair<T> {
 public:
  Put(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    if (!this->leads()) return;
    for (auto i = rounds; i > 0; --i) {
      this->transport_.put(this->region_, this->peer(), 0, this->out());
      this->transport_.complete(this->region_, this->peer());
    }
  }

  bool verify() override { return this->put_arrives(); }
};
NHALF_PATTERN(single_put, Put);

inline constexpr PatternInfo put_stream{
    .name = "put-stream",
    .what = "rank 0 puts again and again and completes all puts once at the end of a batch",
    .needs = "one-sided"};
template <OneSided T>
class PutStream : public RegionPair<T> {
 public:
  PutStream(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    if (!this->leads()) return;
    for (auto i = rounds; i > 0; --i)
      this->transport_.put(this->region_, this->peer(), 0, this->out());
    this->transport_.complete(this->region_, this->peer());
  }

  bool verify() override { return this->put_arrives(); }
};
NHALF_PATTERN(put_stream, PutStream);

inline constexpr PatternInfo single_get{
    .name = "get",
    .what = "rank 0 gets from rank 1, where nothing changes meanwhile; time of one get",
    .needs = "one-sided"};

template <OneSided T>
class Get : public RegionPair<T> {
 public:
  Get(T& transport, const Case& point) : RegionPair<T>(transport, point) {
    this->blank(this->seed_of(transport.rank()));
  }

  void run(std::uint64_t rounds) override {
    if (!this->leads()) return;
    for (auto i = rounds; i > 0; --i)
      this->transport_.get(this->region_, this->peer(), 0, this->in());
  }

  bool verify() override {
    run(1);
    return !this->leads() || nhalf::holds(this->in(), this->seed_of(1));
  }
};
NHALF_PATTERN(single_get, Get);

inline constexpr PatternInfo plain_copy{
    .name = "copy",
    .what = "rank 0 copies into its own exposed memory by memcpy: what a put is compared with",
    .needs = "one-sided"};
template <OneSided T>
class Copy : public RegionPair<T> {
 public:
  Copy(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    if (!this->leads() || this->out().empty()) return;
    for (auto i = rounds; i > 0; --i) {
      std::memcpy(this->here().data(), this->out().data(), this->out().size());
      // Each copy is made: somebody might read it.
      asm volatile("" ::"r"(this->here().data()) : "memory");
    }
  }

  bool verify() override {
    run(1);
    return !this->leads() || nhalf::holds(this->here(), this->seed_of(0));
  }
};
NHALF_PATTERN(plain_copy, Copy);

}  // namespace nhalf

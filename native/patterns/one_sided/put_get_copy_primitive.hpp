// Rank 0 puts into the exposed memory of rank 1 or gets from it, and what that is compared with;
// and the steps by which such memory is set up, used and given back.
#pragma once

#include "contract/exposed_memory.hpp"
#include "patterns/bases/one_sided/region_pair.hpp"
#include "timing/stopwatch.hpp"

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

/// The steps of transport T, or all where it has none of them.
template <class T>
constexpr std::string_view steps_of() {
  if constexpr (SegmentLife<T>) return T::steps;
  return all_steps;
}

template <class T>
inline constexpr AxisInfo primitive_axes[] = {
    {"step", steps_of<T>(), "", "what is timed of the life of a segment"}};

template <class T>
inline constexpr PatternInfo primitive{
    .name = "primitive",
    .what = "one step in the life of a segment: rank 0 exposes it, rank 1 puts and gets all of it",
    .needs = "segment-life",
    .timing = Timing::inner,
    .axes = primitive_axes<T>};

/// Each round is a whole life, of which one step is timed at the rank that takes it.
template <SegmentLife T>
class Primitive : public Pair<T> {
 public:
  Primitive(T& transport, const Case& point)
      : Pair<T>(transport, {.size_bytes = std::max(point.size_bytes, least_bytes)}),
        step_(static_cast<Step>(point.choice("step", step_names))),
        watch_(transport) {
    check(point.axes.text("step"));
  }

  void run(std::uint64_t rounds) override {
    watch_.reset();
    for (auto i = rounds; i > 0; --i)
      this->transport_.segment_life(this->out_.bytes(), this->in_.bytes(),
                                    [&](Step step, auto call) {
                                      if (step == step_)
                                        watch_.time(call);
                                      else
                                        call();
                                    });
  }

  /// What rank 1 got is what it had put.
  bool verify() override {
    this->in_.fill(this->seed_of(-1));
    run(1);
    return this->transport_.rank() != 1 || this->in_.holds(this->seed_of(1));
  }

  [[nodiscard]] std::optional<double> timed_s() const override { return watch_.seconds(); }
  std::vector<Value> values() override { return watch_.values(); }

 private:
  static constexpr std::size_t least_bytes = 8;

  static void check(std::string_view step_name) {
    for (auto names = T::steps; !names.empty();) {
      const auto cut = std::min(names.find(','), names.size());
      if (names.substr(0, cut) == step_name) return;
      names.remove_prefix(std::min(cut + 1, names.size()));
    }
    throw InputError("this transport has no step '" + std::string(step_name) + "'");
  }

  Step step_;
  Stopwatch<T> watch_;
};
NHALF_PATTERN(primitive<ProbeTransport>, Primitive);
}  // namespace nhalf

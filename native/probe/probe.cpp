// The probe: reads one point per line, measures it, writes one line. Knows no transport by name.
#define NHALF_PROBE

#include "host/life_line.hpp"
#include "patterns/all_patterns.hpp"
#include "probe/session.hpp"
#include "timing/operation_sampler.hpp"

namespace {
using nhalf::InputError;
using nhalf::Options;
using nhalf::ProbeTransport;

constexpr std::string_view usage =
    "usage: probe [--describe] [--ranks N] [--cpus 0,1,...] [--options key=value,...]\n"
    "Reads points from standard input, one line each: id=1 pattern=pingpong bytes=1024\n"
    "with slice_s=, precision=, samples_min=, samples_max=, visits=, seed=, axis.NAME= where\n"
    "wanted, and verify_only=1 where nothing is to be timed.\n"
    "The line 'end' or the end of the input ends the run.\n";

void check_names(const Options& options) {
  for (const auto& [name, value] : options.values()) {
    bool is_valid = false;
    for (const auto& option : ProbeTransport::info.options)
      is_valid = is_valid || option.name == name;
    if (!is_valid) throw InputError("transport has no option '" + name + "'");
  }
}

const nhalf::PatternEntry<ProbeTransport>& find_pattern(const std::string& name) {
  const auto& entry = nhalf::entry_named(nhalf::patterns<ProbeTransport>(), name);
  if (entry.make == nullptr)
    throw InputError("pattern " + name + " is absent: the transport " +
                     (entry.info.needs.empty() ? "does not offer it"
                                               : "lacks " + std::string(entry.info.needs)));
  return entry;
}

/// Samples on the virtual network: the second one shows that they are equal.
constexpr std::size_t virtual_samples = 2;

/// Single operations are short and not averaged in batches, so there may be more of them. The
/// visits of a launch to a point share its samples.
nhalf::Effort effort_of(const Options& point, nhalf::Timing timing, bool is_virtual) {
  nhalf::Effort usual;
  if (timing == nhalf::Timing::operation) usual.samples_max *= 5;
  usual.samples_max /= std::max<std::size_t>(1, point.number("visits", std::size_t{1}));
  auto effort = nhalf::effort_of(point, usual);
  if constexpr (nhalf::is_exact<ProbeTransport>) effort.samples_min = effort.samples_max = 1;
  if (is_virtual) effort.samples_min = effort.samples_max = virtual_samples;
  return effort;
}

/// Builds the pattern on every rank, or on none.
std::unique_ptr<nhalf::Pattern> make_everywhere(ProbeTransport& transport, const nhalf::Case& point,
                                                const nhalf::PatternEntry<ProbeTransport>& entry) {
  if (transport.size() < entry.info.ranks_min)
    throw InputError(std::string(entry.info.name) + " needs " +
                     std::to_string(entry.info.ranks_min) + " ranks or more");
  return nhalf::made_everywhere(
      transport, "no memory for messages of " + std::to_string(point.size_bytes) + " bytes",
      "another rank could not prepare the point", [&] { return entry.make(transport, point); });
}

/// Begins another launch of a transport that simulates them, where the point asks for it.
template <class T>
void reseed(T& transport, const Options& point) {
  if constexpr (requires { transport.reseed(std::uint64_t{}); }) {
    if (!point.text("seed").empty()) transport.reseed(point.number("seed", std::uint64_t{0}));
  }
}

/// Lets a transport with axes of its own take the values of a point.
template <class T>
void take_axes(T& transport, const Options& axes) {
  if constexpr (requires { transport.choose(axes); }) transport.choose(axes);
}

/// What a rank keeps from one point to the next.
struct Session {
  ProbeTransport& transport;
  nhalf::ClockQuality clock = nhalf::calibrate(transport);
  std::vector<int> hosts = nhalf::hosts_of(transport);
  nhalf::GlobalClock<ProbeTransport> global_clock{transport, clock};
  nhalf::Flag<ProbeTransport> flag{transport, hosts};
  /// Patterns whose data were found right, where that is asked once.
  std::set<std::string> verified = {};
};

nhalf::LastPoint last_point;

/// Measures a pattern in the way that its timing asks for.
nhalf::Measurement timed(Session& session, nhalf::Pattern& pattern, const nhalf::PatternInfo& info,
                         const nhalf::Case& where, const nhalf::Effort& effort,
                         nhalf::Witness<ProbeTransport>& witness) {
  if (info.timing == nhalf::Timing::operation)
    return nhalf::OperationSampler(session.transport, session.clock, effort, session.global_clock,
                                   &witness)
        .measure(pattern, info, where);
  return nhalf::Sampler(session.transport, session.clock, effort, &witness).measure(pattern, info);
}

/// Measures a pattern while a witness looks at what a flag takes.
nhalf::Measurement measure(Session& session, nhalf::Pattern& pattern,
                           const nhalf::PatternInfo& info, const nhalf::Case& where,
                           const nhalf::Effort& effort) {
  nhalf::Witness witness(session.flag);
  witness.look();
  auto measured = timed(session, pattern, info, where, effort, witness);
  witness.look();
  if (witness.knows()) {
    measured.values.push_back({"flag_low_s", witness.low_s()});
    measured.values.push_back({"flag_high_s", witness.high_s()});
  }
  return measured;
}

/// Puts the buffers of a point into the memory that it asks for, on every rank or on none: the
/// first rank that cannot says why.
template <class T>
std::unique_ptr<nhalf::MemoryChoice> choose_memory(T& transport, const nhalf::PatternInfo& info,
                                                   const nhalf::Case& point) {
  std::unique_ptr<nhalf::MemoryChoice> memory;
  constexpr bool is_always = requires { requires T::has_gpu_memory_only; };
  if constexpr (nhalf::OffersGpuMemory<T> || is_always) {
    const auto words = is_always ? "device" : point.axes.text("memory");
    if (words.empty()) return memory;
    if (is_always && point.size_bytes == 0)
      throw InputError("no message has 0 bytes here: give sizes from 1 up");
    std::string reason;
    try {
      memory = std::make_unique<nhalf::MemoryChoice>(info, point, words, transport.rank(),
                                                     transport.size());
    } catch (const InputError& error) {
      reason = error.what();
    }
    for (const auto& of_rank : transport.gather(reason))
      if (reason.empty()) reason = of_rank;
    nhalf::share(transport, reason);
    if (!reason.empty()) throw InputError(reason);
  }
  return memory;
}

/// Adds what the GPU of rank 0 still has to do when a call of the library has returned. That is in
/// no sample, nor is the wait for it.
void add_waits(Session& session, nhalf::Pattern& pattern, const nhalf::PatternInfo& info,
               const nhalf::MemoryChoice& memory, nhalf::Measurement& measured) {
  if (info.whole_runs || info.timing == nhalf::Timing::inner) return;
  const auto values = memory.waits(session.transport, [&] {
    session.transport.barrier();
    pattern.settle();
  });
  measured.values.insert(measured.values.end(), values.begin(), values.end());
}

/// The GPU of every rank, at rank 0; none where no rank has one. Adds the advice on them.
std::vector<std::string> gpus_of(Session& session, const nhalf::MemoryChoice* memory,
                                 nhalf::Measurement& measured) {
  if (memory == nullptr) return {};
  auto gpus = session.transport.gather(memory->gpu());
  const auto condition = memory->condition();
  const auto held_back = condition.held_back_by();
  const auto reasons = session.transport.gather(held_back.empty() ? "" : held_back.front());
  const auto processes = session.transport.gather(std::to_string(condition.processes));
  for (auto& name : nhalf::advice_on(gpus, session.hosts, reasons, processes))
    measured.advice.push_back(std::move(name));
  return gpus;
}

/// Adds what the library says that it chose for the operations of a point, where it can say so.
template <class T>
void add_choices(T& transport, nhalf::Measurement& measured) {
  if constexpr (requires { transport.choices(); })
    for (auto& choice : transport.choices()) measured.values.push_back(std::move(choice));
}

/// Adds when single operations are over by the transport's own definitions, where it has several.
template <class T>
void add_phases(T& transport, nhalf::Pattern& pattern, const nhalf::PatternInfo& info,
                nhalf::Measurement& measured) {
  if constexpr (requires { transport.phases([] {}); }) {
    if (info.timing != nhalf::Timing::operation || !measured.verified) return;
    for (auto& phase : transport.phases([&] { pattern.run(1); }))
      measured.values.push_back(std::move(phase));
  }
}

/// Whether a pattern moves the right data, where ranks are simulated: with a small message, at the
/// first point of the pattern and algorithm, since these themselves are in question there.
bool verified(Session& session, const nhalf::PatternEntry<ProbeTransport>& entry,
              const nhalf::Case& point) {
  constexpr std::size_t small_bytes = 64;
  const auto title = std::string(entry.info.name) + "/" + point.axes.text("algorithm");
  if (!nhalf::is_exact<ProbeTransport> || session.verified.contains(title)) return true;
  auto small = point;
  small.size_bytes = std::min(point.size_bytes, small_bytes);
  const auto pattern = make_everywhere(session.transport, small, entry);
  if (!session.transport.all(pattern->verify())) return false;
  session.verified.insert(title);
  return true;
}

/// Measures a point; the record is complete at rank 0 only, and there is none after which the
/// launch ends.
std::optional<std::string> answer(Session& session, const Options& point, const std::string& id) {
  auto& transport = session.transport;
  reseed(transport, point);
  const auto& entry = find_pattern(point.text("pattern"));
  const nhalf::Case where{.size_bytes = point.number("bytes", std::size_t{0}),
                          .axes = point.below("axis."),
                          .hosts = session.hosts};
  nhalf::check_axes(entry.info, where.axes, nhalf::further_axes<ProbeTransport>(entry.info));
  take_axes(transport, where.axes);
  const auto effort = effort_of(point, entry.info.timing, session.clock.is_virtual);
  const bool verify_only = point.number("verify_only", 0) != 0;
  if (entry.info.timing == nhalf::Timing::launch_end && !verify_only) {
    if (transport.rank() == 0) last_point.keep(id, entry.info, transport.size());
    return std::nullopt;
  }
  const auto memory = choose_memory(transport, entry.info, where);
  const bool sound = verified(session, entry, where);
  const auto pattern = make_everywhere(transport, where, entry);
  nhalf::Measurement measured;
  if (verify_only) {
    measured.verified = sound && transport.all(pattern->verify());
  } else if (sound) {
    const double clock_before_hz = memory != nullptr ? memory->clock_hz() : 0;
    measured = measure(session, *pattern, entry.info, where, effort);
    if (clock_before_hz > 0) {
      measured.values.push_back({"gpu_clock_before_hz", clock_before_hz});
      measured.values.push_back({"gpu_clock_after_hz", memory->clock_hz()});
    }
    if (memory != nullptr) add_waits(session, *pattern, entry.info, *memory, measured);
    add_phases(transport, *pattern, entry.info, measured);
  }
  add_choices(transport, measured);
  const auto moved_bytes = pattern->moved_bytes().value_or(
      where.size_bytes * static_cast<std::size_t>(entry.info.bytes_factor));
  const auto gpus = gpus_of(session, memory.get(), measured);
  return nhalf::point_record(id, entry.info, transport.size(), where.size_bytes, moved_bytes,
                             measured, gpus);
}

/// The life of one rank.
void serve(ProbeTransport& transport) {
  Session session{transport};
  auto placement = nhalf::placements(transport);
  nhalf::serve(
      transport,
      [&] { return nhalf::launch_record(transport, session.clock, std::move(placement)); },
      [&](const Options& point, const std::string& id) { return answer(session, point, id); });
}
}  // namespace

int main(int argc, char** argv) {
  const auto run = [&](const nhalf::Arguments& arguments) {
    check_names(arguments.options);
    const int ranks = arguments.ranks > 0 ? arguments.ranks : 2;
    // Simulated ranks share one process.
    if (!nhalf::is_exact<ProbeTransport>) nhalf::hold_life_line();
    const int code = ProbeTransport::launch(argc, argv, ranks, arguments.options, serve);
    last_point.answer<ProbeTransport>();
    return code;
  };
  return nhalf::run_program(
      "probe", usage, argc, argv,
      [](const nhalf::Arguments&) { return nhalf::description<ProbeTransport>(); }, run);
}

// nhalf-needs: MPI
// What an MPI library says of its own parameters in this process (chapter 15 of MPI 4.1).
#pragma once

#include <mpi.h>
#include <setjmp.h>
#include <csignal>
#include <cstdlib>
#include <numeric>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// What a library said: how many variables it has of either kind, and the values of some by name.
struct MpiToolReport {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  int control = 0;
  int performance = 0;
  /// Control variables: eager limits, algorithms that are forced, and what the environment sets of
  /// messages and operations.
  Variables variables;
  /// Performance variables of what there is at the moment.
  Variables levels;
};

/// Finds a call of the library by its name; null where it lacks it.
using FindsMpiCall = void* (*)(const char* symbol);

#ifdef SMPI_H
/// SimGrid's MPI has no such interface.
struct MpiTool {
  static MpiToolReport report(FindsMpiCall /*find*/) { return {}; }
};
#else
// The call of a library, which is found once.
#define NHALF_TOOL(name) (called<struct Tool_##name, decltype(MPI_T_##name)>("MPI_T_" #name))

/// Few variables are read, since reading any may end the process (Open MPI 4.1.4 does in one of a
/// component that it has closed); such a fault ends the list.
class MpiTool {
 public:
  /// Asks for control variables, and if `with_levels` for performance variables that belong to no
  /// object or, unless that is null, to a communicator: of those, the sum over its ranks. Counters,
  /// timers and watermarks begin when they are asked for, so that they would say nothing.
  static MpiToolReport report(FindsMpiCall find, bool with_levels = false,
                              MPI_Comm comm = MPI_COMM_NULL) {
    return MpiTool(find, with_levels, comm).report_;
  }

 private:
  MpiTool(FindsMpiCall find, bool with_levels, MPI_Comm comm) : find_(find) {
    // With threads, MPICH 5.0 would fail at a call after the end instead of refusing it.
    int level = MPI_THREAD_SINGLE;
    if (NHALF_TOOL(init_thread) == nullptr || NHALF_TOOL(pvar_read) == nullptr ||
        NHALF_TOOL(init_thread)(level, &level) != MPI_SUCCESS)
      return;
    unless_it_faults([&] {
      NHALF_TOOL(cvar_get_num)(&report_.control);
      NHALF_TOOL(pvar_get_num)(&report_.performance);
      add_variables();
      if (with_levels) add_levels(comm);
      NHALF_TOOL(finalize)();
    });
  }

  template <class Tag, class Function>
  Function* called(const char* name) const {
    static auto* const function = reinterpret_cast<Function*>(find_(name));
    return function;
  }

  static inline sigjmp_buf place;
  static inline struct sigaction before{};
  static inline thread_local bool is_asking = false;

  /// Does what may fault in the library. Faults of other threads stay the program's own.
  template <class Ask>
  static void unless_it_faults(const Ask& ask) {
    struct sigaction guard{};
    guard.sa_sigaction = &faulted;
    guard.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &guard, &before);
    is_asking = true;
    if (sigsetjmp(place, 1) == 0) ask();
    is_asking = false;
    sigaction(SIGSEGV, &before, nullptr);
  }

  static void faulted(int signal, siginfo_t* info, void* context) {
    if (is_asking) siglongjmp(place, 1);
    if ((before.sa_flags & SA_SIGINFO) != 0)
      before.sa_sigaction(signal, info, context);
    else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
      sigaction(signal, &before, nullptr);  // It faults again there.
    else
      before.sa_handler(signal);
  }

  /// What the interface says of a variable.
  struct Description {
    std::array<char, 256> name{};
    int length = static_cast<int>(name.size());
    int verbosity = 0, binding = 0, no_text = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum values = MPI_T_ENUM_NULL;
  };

  void add_variables() {
    for (int number = 0; number < report_.control; ++number) {
      Description about;
      int scope = 0;
      const int code = NHALF_TOOL(cvar_get_info)(number, about.name.data(), &about.length,
                                                 &about.verbosity, &about.type, &about.values,
                                                 nullptr, &about.no_text, &about.binding, &scope);
      if (code == MPI_SUCCESS && about.binding == MPI_T_BIND_NO_OBJECT) add_variable(number, about);
    }
  }

  void add_variable(int number, const Description& about) {
    const std::string called_so(about.name.data());
    const bool is_set = is_of_library(called_so) && is_in_environment(called_so);
    constexpr std::string_view limits[] = {"eager_limit", "_IQUEUE_CELL_SIZE", "_P2P_THRESHOLD"};
    const bool is_limit =
        called_so.find("_EAGER_") != called_so.npos ||
        std::ranges::any_of(limits, [&](auto end) { return called_so.ends_with(end); });
    const bool is_choice =
        called_so.starts_with("coll_tuned_") && called_so.ends_with("_algorithm");
    const bool is_key = called_so == "coll_tuned_use_dynamic_rules";
    if (!is_set && !is_limit && !is_choice && !is_key) return;
    auto text = value_of(number, about.type);
    if (!text || (!is_set && !is_key && *text == "0")) return;
    // MPICH 5.0 reports every text as empty.
    if (text->empty() && called_so.starts_with("MPIR_")) return;
    report_.variables.emplace_back(called_so, *text + word_for(about.values, *text));
  }

  void add_levels(MPI_Comm comm) {
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    if (NHALF_TOOL(pvar_session_create)(&session) != MPI_SUCCESS) return;
    for (int number = 0; number < report_.performance; ++number) {
      Description about;
      int kind = 0, read_only = 0, continuous = 0, atomic = 0;
      const int code = NHALF_TOOL(pvar_get_info)(
          number, about.name.data(), &about.length, &about.verbosity, &kind, &about.type,
          &about.values, nullptr, &about.no_text, &about.binding, &read_only, &continuous, &atomic);
      const bool is_level = kind == MPI_T_PVAR_CLASS_STATE || kind == MPI_T_PVAR_CLASS_LEVEL ||
                            kind == MPI_T_PVAR_CLASS_SIZE;
      const bool is_of_comm = about.binding == MPI_T_BIND_MPI_COMM && comm != MPI_COMM_NULL;
      if (code == MPI_SUCCESS && is_level && (is_of_comm || about.binding == MPI_T_BIND_NO_OBJECT))
        add_level(session, number, about, is_of_comm ? &comm : nullptr, continuous != 0);
    }
    NHALF_TOOL(pvar_session_free)(&session);
  }

  void add_level(MPI_T_pvar_session session, int number, const Description& about, void* object,
                 bool is_started) {
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    if (NHALF_TOOL(pvar_handle_alloc)(session, number, object, &handle, &count) != MPI_SUCCESS)
      return;
    std::vector<std::uint64_t> data(static_cast<std::size_t>(std::max(count, 1)));
    if (!is_started) NHALF_TOOL(pvar_start)(session, handle);
    if (NHALF_TOOL(pvar_read)(session, handle, data.data()) == MPI_SUCCESS)
      if (const auto sum = sum_of(data.data(), count, about.type))
        report_.levels.emplace_back(about.name.data(), *sum + word_for(about.values, *sum));
    NHALF_TOOL(pvar_handle_free)(session, &handle);
  }

  /// Open MPI's launcher has variables, too, that say where it listens.
  static bool is_of_library(std::string_view name) {
    constexpr std::string_view beginnings[] = {"MPIR_", "btl", "coll", "mpi_",
                                               "mtl",   "osc", "pml",  "smsc"};
    return std::ranges::any_of(beginnings, [&](auto part) { return name.starts_with(part); });
  }

  /// Open MPI reads NAME as OMPI_MCA_NAME. Intel MPI reads most of its variables as I_MPI_REST, and
  /// has some of them as MPIR_CVAR_INTEL_REST or MPIR_CVAR_IMPI_REST.
  static bool is_in_environment(const std::string& name) {
    const auto has = [](const std::string& text) { return std::getenv(text.c_str()) != nullptr; };
    if (has(name) || has("OMPI_MCA_" + name)) return true;
    constexpr std::string_view of_intel[] = {"MPIR_CVAR_INTEL_", "MPIR_CVAR_IMPI_", "MPIR_CVAR_"};
    return std::ranges::any_of(of_intel, [&](auto beginning) {
      return name.starts_with(beginning) && has("I_MPI_" + name.substr(beginning.size()));
    });
  }

  /// ' (binomial)' for a number that has a word.
  std::string word_for(MPI_T_enum values, const std::string& number) const {
    int items = 0, length = 0;
    if (values == MPI_T_ENUM_NULL ||
        NHALF_TOOL(enum_get_info)(values, &items, nullptr, &length) != MPI_SUCCESS)
      return "";
    for (int item = 0; item < items; ++item) {
      std::array<char, 256> word{};
      int value = 0;
      length = static_cast<int>(word.size());
      const int code = NHALF_TOOL(enum_get_item)(values, item, &value, word.data(), &length);
      if (code == MPI_SUCCESS && std::to_string(value) == number)
        return std::string(" (") + word.data() + ")";
    }
    return "";
  }

  std::optional<std::string> value_of(int number, MPI_Datatype type) const {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    alignas(std::uint64_t) std::array<char, 4096> data{};
    if (NHALF_TOOL(cvar_handle_alloc)(number, nullptr, &handle, &count) != MPI_SUCCESS) return {};
    const auto item_bytes = type == MPI_CHAR ? sizeof(char) : sizeof(std::uint64_t);
    const bool is_read = static_cast<std::size_t>(count) < data.size() / item_bytes &&
                         NHALF_TOOL(cvar_read)(handle, data.data()) == MPI_SUCCESS;
    NHALF_TOOL(cvar_handle_free)(&handle);
    if (!is_read) return {};
    return type == MPI_CHAR ? std::string(data.data()) : sum_of(data.data(), 1, type);
  }

  /// The sum of `count` integers or truth values; none of another type.
  static std::optional<std::string> sum_of(const void* data, int count, MPI_Datatype type) {
    if (type == MPI_INT || type == MPI_UNSIGNED) return sum<int>(data, count);
    if (type == MPI_C_BOOL) return sum<unsigned char>(data, count);
    if (type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_COUNT)
      return sum<long long>(data, count);
    return {};
  }

  template <class Number>
  static std::string sum(const void* data, int count) {
    const std::span numbers(static_cast<const Number*>(data), static_cast<std::size_t>(count));
    return std::to_string(std::accumulate(numbers.begin(), numbers.end(), 0LL));
  }

  FindsMpiCall find_;
  MpiToolReport report_;
};
#undef NHALF_TOOL
#endif
}  // namespace nhalf

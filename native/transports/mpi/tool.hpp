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
/// What a library said: how many variables it has of either kind, and the values of some.
struct MpiToolReport {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  int control_variables = 0;
  int performance_variables = 0;
  /// Control variables by name: eager limits, algorithms that are forced, and what the environment
  /// sets of messages and operations.
  Variables variables;
  /// Performance variables of what there is at the moment: levels, sizes and states.
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
/// Few variables are read, since reading any may end the process (Open MPI 4.1.4 does in one of a
/// component that it has closed); such a fault ends the list.
class MpiTool {
 public:
  /// Asks for control variables, and if `with_levels` for performance variables that belong to no
  /// object or, unless that is null, to a communicator: of those, the sum over its ranks. Counters,
  /// timers and watermarks begin when they are asked for, so that they would say nothing.
  static MpiToolReport report(FindsMpiCall find, bool with_levels = false,
                              MPI_Comm comm = MPI_COMM_NULL) {
    MpiToolReport report;
    const Calls calls{find};
    int level = 0;
    if (calls.init_thread == nullptr || calls.cvar_read == nullptr) return report;
    if (calls.init_thread(MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return report;
    unless_it_faults([&] {
      calls.cvar_get_num(&report.control_variables);
      calls.pvar_get_num(&report.performance_variables);
      for (int number = 0; number < report.control_variables; ++number)
        calls.add_variable(number, report.variables);
      if (with_levels) calls.add_levels(report.performance_variables, comm, report.levels);
      calls.finalize();
    });
    return report;
  }

 private:
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

  using Variables = MpiToolReport::Variables;

  /// The calls of the interface, which a library may lack.
  struct Calls {
    FindsMpiCall find;
#define NHALF_TOOL_CALL(name) \
  decltype(&MPI_T_##name) name = reinterpret_cast<decltype(&MPI_T_##name)>(find("MPI_T_" #name))
    NHALF_TOOL_CALL(init_thread);
    NHALF_TOOL_CALL(finalize);
    NHALF_TOOL_CALL(cvar_get_num);
    NHALF_TOOL_CALL(cvar_get_info);
    NHALF_TOOL_CALL(cvar_handle_alloc);
    NHALF_TOOL_CALL(cvar_handle_free);
    NHALF_TOOL_CALL(cvar_read);
    NHALF_TOOL_CALL(enum_get_info);
    NHALF_TOOL_CALL(enum_get_item);
    NHALF_TOOL_CALL(pvar_get_num);
    NHALF_TOOL_CALL(pvar_get_info);
    NHALF_TOOL_CALL(pvar_session_create);
    NHALF_TOOL_CALL(pvar_session_free);
    NHALF_TOOL_CALL(pvar_handle_alloc);
    NHALF_TOOL_CALL(pvar_handle_free);
    NHALF_TOOL_CALL(pvar_start);
    NHALF_TOOL_CALL(pvar_read);
#undef NHALF_TOOL_CALL

    void add_variable(int number, Variables& reported) const {
      Description about;
      int scope = 0;
      const int code =
          cvar_get_info(number, about.name.data(), &about.length, &about.verbosity, &about.type,
                        &about.values, nullptr, &about.no_text, &about.binding, &scope);
      if (code != MPI_SUCCESS || about.binding != MPI_T_BIND_NO_OBJECT) return;
      const std::string called(about.name.data());
      const bool is_set =
          is_of_library(called) && (std::getenv(called.c_str()) != nullptr ||
                                    std::getenv(("OMPI_MCA_" + called).c_str()) != nullptr);
      const bool is_limit =
          called.ends_with("eager_limit") || called.find("_EAGER_") != called.npos ||
          called.ends_with("_IQUEUE_CELL_SIZE") || called.ends_with("_P2P_THRESHOLD");
      const bool is_choice = called.starts_with("coll_tuned_") && called.ends_with("_algorithm");
      const bool is_key = called == "coll_tuned_use_dynamic_rules";
      if (!is_set && !is_limit && !is_choice && !is_key) return;
      auto text = value_of(number, about.type);
      if (!text || (!is_set && !is_key && *text == "0")) return;
      // MPICH 5.0 reports every text as empty.
      if (text->empty() && called.starts_with("MPIR_")) return;
      *text += word_for(about.values, *text);
      reported.emplace_back(called, *text);
    }

    void add_levels(int count, MPI_Comm comm, Variables& levels) const {
      MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
      if (pvar_read == nullptr || pvar_session_create(&session) != MPI_SUCCESS) return;
      for (int number = 0; number < count; ++number) add_level(session, number, comm, levels);
      pvar_session_free(&session);
    }

   private:
    /// What the interface says of a variable.
    struct Description {
      std::array<char, 256> name{};
      int length = static_cast<int>(name.size());
      int verbosity = 0, binding = 0, no_text = 0;
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_T_enum values = MPI_T_ENUM_NULL;
    };

    void add_level(MPI_T_pvar_session session, int number, MPI_Comm comm, Variables& levels) const {
      Description about;
      int kind = 0, read_only = 0, continuous = 0, atomic = 0, count = 0;
      const int code = pvar_get_info(number, about.name.data(), &about.length, &about.verbosity,
                                     &kind, &about.type, &about.values, nullptr, &about.no_text,
                                     &about.binding, &read_only, &continuous, &atomic);
      const bool is_level = kind == MPI_T_PVAR_CLASS_STATE || kind == MPI_T_PVAR_CLASS_LEVEL ||
                            kind == MPI_T_PVAR_CLASS_SIZE;
      const bool is_of_comm = about.binding == MPI_T_BIND_MPI_COMM && comm != MPI_COMM_NULL;
      if (code != MPI_SUCCESS || !is_level ||
          (about.binding != MPI_T_BIND_NO_OBJECT && !is_of_comm))
        return;
      MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
      void* const object = is_of_comm ? &comm : nullptr;
      if (pvar_handle_alloc(session, number, object, &handle, &count) != MPI_SUCCESS) return;
      std::vector<std::uint64_t> data(static_cast<std::size_t>(std::max(count, 1)));
      if (continuous == 0) pvar_start(session, handle);
      if (pvar_read(session, handle, data.data()) == MPI_SUCCESS)
        if (const auto sum = sum_of(data.data(), count, about.type))
          levels.emplace_back(about.name.data(), *sum + word_for(about.values, *sum));
      pvar_handle_free(session, &handle);
    }

    /// ' (binomial)' for a number that has a word.
    std::string word_for(MPI_T_enum values, const std::string& number) const {
      int items = 0, length = 0;
      if (values == MPI_T_ENUM_NULL) return "";
      if (enum_get_info(values, &items, nullptr, &length) != MPI_SUCCESS) return "";
      for (int item = 0; item < items; ++item) {
        std::array<char, 256> word{};
        int value = 0;
        length = static_cast<int>(word.size());
        const int code = enum_get_item(values, item, &value, word.data(), &length);
        if (code == MPI_SUCCESS && std::to_string(value) == number)
          return std::string(" (") + word.data() + ")";
      }
      return "";
    }

    std::optional<std::string> value_of(int number, MPI_Datatype type) const {
      MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
      int count = 0;
      alignas(std::uint64_t) std::array<char, 4096> data{};
      if (cvar_handle_alloc(number, nullptr, &handle, &count) != MPI_SUCCESS) return {};
      const bool fits = count < static_cast<int>(data.size() / sizeof(std::uint64_t)) ||
                        (type == MPI_CHAR && count < static_cast<int>(data.size()));
      const bool is_read = fits && cvar_read(handle, data.data()) == MPI_SUCCESS;
      cvar_handle_free(&handle);
      if (!is_read) return {};
      if (type == MPI_CHAR) return std::string(data.data());
      return sum_of(data.data(), 1, type);
    }
  };

  /// The sum of `count` numbers of a type, which has to be of integers or truth values.
  static std::optional<std::string> sum_of(const void* data, int count, MPI_Datatype type) {
    if (type == MPI_INT || type == MPI_UNSIGNED) return sum<int>(data, count);
    if (type == MPI_C_BOOL) return sum<bool>(data, count);
    if (type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_COUNT)
      return sum<std::uint64_t>(data, count);
    return {};
  }

  template <class Number>
  static std::string sum(const void* data, int count) {
    const std::span numbers(static_cast<const Number*>(data), static_cast<std::size_t>(count));
    using Sum = std::conditional_t<std::is_same_v<Number, bool>, int, Number>;
    return std::to_string(std::accumulate(numbers.begin(), numbers.end(), Sum{0}));
  }

  /// Open MPI's launcher has variables, too, that say where it listens.
  static bool is_of_library(std::string_view called) {
    constexpr std::string_view beginnings[] = {"MPIR_", "btl", "coll", "mpi_",
                                               "mtl",   "osc", "pml",  "smsc"};
    return std::ranges::any_of(beginnings, [&](auto part) { return called.starts_with(part); });
  }
};
#endif
}  // namespace nhalf

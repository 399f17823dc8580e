// nhalf-needs: MPI
// What an MPI library says of its own parameters in this process (chapter 15 of MPI 4.1).
#pragma once

#include <mpi.h>
#include <setjmp.h>
#include <csignal>
#include <cstdlib>

#include "contract/vocabulary.hpp"

#ifdef SMPI_H
namespace nhalf {
/// SimGrid's MPI has no such interface.
struct MpiTool {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  static Variables variables() { return {}; }
};
}  // namespace nhalf
#else
// Libraries may lack them; then they are null.
#pragma weak MPI_T_init_thread
#pragma weak MPI_T_finalize
#pragma weak MPI_T_cvar_get_num
#pragma weak MPI_T_cvar_get_info
#pragma weak MPI_T_cvar_handle_alloc
#pragma weak MPI_T_cvar_handle_free
#pragma weak MPI_T_cvar_read
#pragma weak MPI_T_enum_get_info
#pragma weak MPI_T_enum_get_item

namespace nhalf {
/// Control variables by name: eager limits, algorithms that are forced, and what the environment
/// sets of messages and operations. Only these are read, since reading any may end the process
/// (Open MPI 4.1.4 does in one of a component that it has closed); such a fault ends the list.
class MpiTool {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  static Variables variables() {
    Variables reported;
    int level = 0;
    if (MPI_T_init_thread == nullptr || MPI_T_cvar_read == nullptr) return reported;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return reported;
    int count = 0;
    MPI_T_cvar_get_num(&count);
    struct sigaction before{};
    struct sigaction guard{};
    guard.sa_handler = [](int) { siglongjmp(place, 1); };
    sigaction(SIGSEGV, &guard, &before);
    if (sigsetjmp(place, 1) == 0) {
      for (int number = 0; number < count; ++number) add(number, reported);
      MPI_T_finalize();
    }
    sigaction(SIGSEGV, &before, nullptr);
    return reported;
  }

 private:
  static inline sigjmp_buf place;

  /// A variable's value in memory, in whichever type it has.
  union Value {
    int number;
    unsigned long long_number;
    std::array<char, 4096> text;
  };

  static void add(int number, Variables& reported) {
    std::array<char, 256> name{};
    int length = static_cast<int>(name.size());
    int verbosity = 0, binding = 0, scope = 0, no_text = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    const int code = MPI_T_cvar_get_info(number, name.data(), &length, &verbosity, &type, &values,
                                         nullptr, &no_text, &binding, &scope);
    if (code != MPI_SUCCESS || binding != MPI_T_BIND_NO_OBJECT) return;
    const std::string called(name.data());
    const bool is_set =
        is_of_library(called) && (std::getenv(called.c_str()) != nullptr ||
                                  std::getenv(("OMPI_MCA_" + called).c_str()) != nullptr);
    const bool is_limit = called.ends_with("eager_limit") || called.find("_EAGER_") != called.npos;
    const bool is_choice = called.starts_with("coll_tuned_") && called.ends_with("_algorithm");
    if (!is_set && !is_limit && !is_choice) return;
    auto text = value_of(number, type);
    if (!text || (!is_set && *text == "0")) return;
    if (values != MPI_T_ENUM_NULL) *text += word_for(values, *text);
    reported.emplace_back(called, *text);
  }

  /// Open MPI's launcher has variables, too, that say where it listens.
  static bool is_of_library(std::string_view called) {
    constexpr std::string_view beginnings[] = {"MPIR_", "btl", "coll", "mpi_",
                                               "mtl",   "osc", "pml",  "smsc"};
    return std::ranges::any_of(beginnings, [&](auto part) { return called.starts_with(part); });
  }

  /// ' (binomial)' for a number that has a word.
  static std::string word_for(MPI_T_enum values, const std::string& number) {
    int items = 0, length = 0;
    if (MPI_T_enum_get_info(values, &items, nullptr, &length) != MPI_SUCCESS) return "";
    for (int item = 0; item < items; ++item) {
      std::array<char, 256> word{};
      int value = 0;
      length = static_cast<int>(word.size());
      const int code = MPI_T_enum_get_item(values, item, &value, word.data(), &length);
      if (code == MPI_SUCCESS && std::to_string(value) == number)
        return std::string(" (") + word.data() + ")";
    }
    return "";
  }

  static std::optional<std::string> value_of(int number, MPI_Datatype type) {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    Value value{};
    if (MPI_T_cvar_handle_alloc(number, nullptr, &handle, &count) != MPI_SUCCESS) return {};
    const bool fits = count < static_cast<int>(sizeof value.text);
    const bool is_read = fits && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    if (!is_read) return {};
    if (type == MPI_CHAR) return std::string(value.text.data());
    if (type == MPI_INT || type == MPI_UNSIGNED) return std::to_string(value.number);
    if (type == MPI_C_BOOL) return value.text[0] != 0 ? "1" : "0";
    if (type == MPI_UNSIGNED_LONG) return std::to_string(value.long_number);
    return {};
  }
};
}  // namespace nhalf
#endif

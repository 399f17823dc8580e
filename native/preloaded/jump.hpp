// Exported symbols that jump to a function chosen at run time and preserve registers and stack.
// Compilers cannot express such a jump; the few instructions are those of lazy binding in the psABI
// of x86-64 and in AAPCS64.
#pragma once

namespace nhalf::preloaded {

using Target = void (*)();

/// The target of an exported symbol. Jumps read the first member.
struct EntryPoint {
  Target target;
  Target own;
  const char* symbol;
  /// Chooses the target of a call from `caller` if none is stored yet.
  Target (*find)(EntryPoint& entry, const void* caller);
  /// The next definition, if it is not the target of all calls.
  Target behind = nullptr;
};

/// An EntryPoint whose function has its type, so that it is initialised without code.
template <class Function>
struct EntryOf {
  Target target;
  Function* own;
  const char* symbol;
  Target (*find)(EntryPoint& entry, const void* caller);
  Target behind = nullptr;
};
template <class Function>
EntryOf(Target, Function*, const char*, Target (*)(EntryPoint&, const void*)) -> EntryOf<Function>;

}  // namespace nhalf::preloaded

#define NHALF_HIDDEN __attribute__((visibility("hidden"), used))

extern "C" __attribute__((visibility("hidden"))) nhalf::preloaded::Target nhalf_find_target(
    nhalf::preloaded::EntryPoint* entry, const void* caller);

/// Defines what all jumps of a library share; used once per library.
#define NHALF_JUMPS                                                   \
  extern "C" NHALF_HIDDEN nhalf::preloaded::Target nhalf_find_target( \
      nhalf::preloaded::EntryPoint* entry, const void* caller) {      \
    return entry->find(*entry, caller);                               \
  }                                                                   \
  NHALF_FIRST_CALL

#if defined(__x86_64__)

// The pushes keep the stack aligned: six registers and eight bytes beside the return address.
#define NHALF_FIRST_CALL                             \
  __asm__(                                           \
      ".pushsection .text\n"                         \
      ".hidden nhalf_first_call\n"                   \
      ".globl nhalf_first_call\n"                    \
      ".type nhalf_first_call, @function\n"          \
      "nhalf_first_call:\n"                          \
      ".cfi_startproc\n"                             \
      "push %rdi\n.cfi_adjust_cfa_offset 8\n"        \
      "push %rsi\n.cfi_adjust_cfa_offset 8\n"        \
      "push %rdx\n.cfi_adjust_cfa_offset 8\n"        \
      "push %rcx\n.cfi_adjust_cfa_offset 8\n"        \
      "push %r8\n.cfi_adjust_cfa_offset 8\n"         \
      "push %r9\n.cfi_adjust_cfa_offset 8\n"         \
      "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"     \
      "mov %r11, %rdi\n"                             \
      "mov 56(%rsp), %rsi\n"                         \
      "call nhalf_find_target\n"                     \
      "mov %rax, %r11\n"                             \
      "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"    \
      "pop %r9\n.cfi_adjust_cfa_offset -8\n"         \
      "pop %r8\n.cfi_adjust_cfa_offset -8\n"         \
      "pop %rcx\n.cfi_adjust_cfa_offset -8\n"        \
      "pop %rdx\n.cfi_adjust_cfa_offset -8\n"        \
      "pop %rsi\n.cfi_adjust_cfa_offset -8\n"        \
      "pop %rdi\n.cfi_adjust_cfa_offset -8\n"        \
      "jmp *%r11\n"                                  \
      ".cfi_endproc\n"                               \
      ".size nhalf_first_call, .-nhalf_first_call\n" \
      ".popsection\n");

#define NHALF_INSTRUCTIONS(symbol)                         \
  __asm__(                                                 \
      ".pushsection .text\n"                               \
      ".p2align 4\n"                                       \
      ".globl " symbol                                     \
      "\n"                                                 \
      ".type " symbol ", @function\n" symbol               \
      ":\n"                                                \
      ".cfi_startproc\n"                                   \
      "endbr64\n"                                          \
      "jmp *nhalf_entry_" symbol                           \
      "(%rip)\n"                                           \
      ".cfi_endproc\n"                                     \
      ".size " symbol ", .-" symbol                        \
      "\n"                                                 \
      ".hidden nhalf_first_" symbol                        \
      "\n"                                                 \
      ".globl nhalf_first_" symbol "\nnhalf_first_" symbol \
      ":\n"                                                \
      "endbr64\n"                                          \
      "lea nhalf_entry_" symbol                            \
      "(%rip), %r11\n"                                     \
      "jmp nhalf_first_call\n"                             \
      ".popsection\n");

#elif defined(__aarch64__)

#define NHALF_FIRST_CALL                                                   \
  __asm__(                                                                 \
      ".pushsection .text\n"                                               \
      ".hidden nhalf_first_call\n"                                         \
      ".globl nhalf_first_call\n"                                          \
      ".type nhalf_first_call, %function\n"                                \
      "nhalf_first_call:\n"                                                \
      ".cfi_startproc\n"                                                   \
      "mov x1, x30\n"                                                      \
      "stp x29, x30, [sp, -96]!\n"                                         \
      ".cfi_def_cfa_offset 96\n.cfi_offset 29, -96\n.cfi_offset 30, -88\n" \
      "mov x29, sp\n"                                                      \
      "stp x0, x16, [sp, 16]\n"                                            \
      "stp x2, x3, [sp, 32]\n"                                             \
      "stp x4, x5, [sp, 48]\n"                                             \
      "stp x6, x7, [sp, 64]\n"                                             \
      "str x8, [sp, 80]\n"                                                 \
      "mov x0, x17\n"                                                      \
      "bl nhalf_find_target\n"                                             \
      "mov x17, x0\n"                                                      \
      "ldp x0, x1, [sp, 16]\n"                                             \
      "ldp x2, x3, [sp, 32]\n"                                             \
      "ldp x4, x5, [sp, 48]\n"                                             \
      "ldp x6, x7, [sp, 64]\n"                                             \
      "ldr x8, [sp, 80]\n"                                                 \
      "ldp x29, x30, [sp], 96\n"                                           \
      ".cfi_restore 29\n.cfi_restore 30\n.cfi_def_cfa_offset 0\n"          \
      "br x17\n"                                                           \
      ".cfi_endproc\n"                                                     \
      ".size nhalf_first_call, .-nhalf_first_call\n"                       \
      ".popsection\n");

// The content of x1 is kept in x16 meanwhile, since x1 becomes the second argument.
#define NHALF_INSTRUCTIONS(symbol)                         \
  __asm__(                                                 \
      ".pushsection .text\n"                               \
      ".p2align 4\n"                                       \
      ".globl " symbol                                     \
      "\n"                                                 \
      ".type " symbol ", %function\n" symbol               \
      ":\n"                                                \
      ".cfi_startproc\n"                                   \
      "hint 34\n"                                          \
      "adrp x17, nhalf_entry_" symbol                      \
      "\n"                                                 \
      "ldr x17, [x17, :lo12:nhalf_entry_" symbol           \
      "]\n"                                                \
      "br x17\n"                                           \
      ".cfi_endproc\n"                                     \
      ".size " symbol ", .-" symbol                        \
      "\n"                                                 \
      ".hidden nhalf_first_" symbol                        \
      "\n"                                                 \
      ".globl nhalf_first_" symbol "\nnhalf_first_" symbol \
      ":\n"                                                \
      "hint 34\n"                                          \
      "adrp x17, nhalf_entry_" symbol                      \
      "\n"                                                 \
      "add x17, x17, :lo12:nhalf_entry_" symbol            \
      "\n"                                                 \
      "mov x16, x1\n"                                      \
      "b nhalf_first_call\n"                               \
      ".popsection\n");

#endif

#if defined(__x86_64__) || defined(__aarch64__)

#define NHALF_JUMP(symbol, function, find)                                                         \
  extern "C" void nhalf_first_##symbol();                                                          \
  NHALF_HIDDEN constinit nhalf::preloaded::EntryOf nhalf_entry_##symbol{&nhalf_first_##symbol,     \
                                                                        function, #symbol, &find}; \
  NHALF_INSTRUCTIONS(#symbol)

#else

// On other processors a call copies as many arguments as the longest call has, each as wide as the
// widest. A barrier keeps the compiler from a tail call, which would write the copies back into the
// frame of the caller.
#define NHALF_FIRST_CALL

#define NHALF_JUMP(symbol, function, find)                                                        \
  NHALF_HIDDEN constinit nhalf::preloaded::EntryOf nhalf_entry_##symbol{                          \
      nhalf::preloaded::Target{nullptr}, function, #symbol, &find};                               \
  extern "C" __attribute__((visibility("default"))) int nhalf_call_##symbol(NHALF_GIVEN) __asm__( \
      #symbol);                                                                                   \
  int nhalf_call_##symbol(NHALF_GIVEN) {                                                          \
    auto& entry = reinterpret_cast<nhalf::preloaded::EntryPoint&>(nhalf_entry_##symbol);          \
    auto target = __atomic_load_n(&entry.target, __ATOMIC_RELAXED);                               \
    if (target == nullptr) target = nhalf_find_target(&entry, __builtin_return_address(0));       \
    const int answer = reinterpret_cast<int (*)(NHALF_GIVEN)>(target)(NHALF_PASSED);              \
    __asm__ volatile("" ::: "memory");                                                            \
    return answer;                                                                                \
  }
#define NHALF_GIVEN                                                                         \
  void *a0, void *a1, void *a2, void *a3, void *a4, void *a5, void *a6, void *a7, void *a8, \
      void *a9, void *a10, void *a11, void *a12, void *a13
#define NHALF_PASSED a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13

#endif

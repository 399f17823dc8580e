// Kernels as PTX text (PTX ISA 7.0), which the driver compiles for the GPU that it has: bytes that
// can be checked, written and verified where they are, and a clock that says how fast the GPU runs.
#pragma once

#include "host/gpu_driver.hpp"

namespace nhalf::gpu {
/// The kernels of nhalf:
/// - nhalf_fill(address, size_bytes, seed) writes what FillSequence (contract/buffer.hpp) does.
/// - nhalf_verify(address, size_bytes, seed, wrong) adds the number of other bytes to `wrong`.
/// - nhalf_clock(times, cycles) lets that many cycles pass; `times` are clock64 and globaltimer in
///   nanoseconds before, and both after.
inline std::string kernels() {
  // What both loops over bytes do: %at is the place of a byte, %want its value.
  constexpr std::string_view each_byte =
      "  .reg .pred %p<3>; .reg .u32 %r<8>; .reg .u32 %want; .reg .u32 %salt;\n"
      "  .reg .u64 %rd<8>; .reg .u64 %at; .reg .u64 %step;\n"
      "  ld.param.u64 %rd1, [address]; cvta.to.global.u64 %rd1, %rd1;\n"
      "  ld.param.u64 %rd2, [size_bytes]; ld.param.u32 %r1, [seed];\n"
      "  mul.lo.u32 %salt, %r1, 40503;\n"
      "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;\n"
      "  mov.u32 %r5, %tid.x; cvt.u64.u32 %rd3, %r5; mad.wide.u32 %at, %r2, %r3, %rd3;\n"
      "  mul.wide.u32 %step, %r3, %r4;\n"
      "NEXT:\n"
      "  setp.ge.u64 %p1, %at, %rd2;\n"
      "  @%p1 bra DONE;\n"
      "  rem.u64 %rd4, %at, 4093; cvt.u32.u64 %r6, %rd4; add.u32 %r6, %r6, 1;\n"
      "  mad.lo.u32 %want, %r6, 0x9E3779B1U, %salt;\n"
      "  shr.u32 %r7, %want, 13; xor.b32 %want, %want, %r7; and.b32 %want, %want, 255;\n"
      "  add.u64 %rd5, %rd1, %at;\n";
  constexpr std::string_view next = "  add.u64 %at, %at, %step;\n  bra NEXT;\nDONE:\n";
  std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n";
  text +=
      ".visible .entry nhalf_fill(.param .u64 address, .param .u64 size_bytes,\n"
      "  .param .u32 seed)\n{\n";
  text.append(each_byte).append("  st.global.u8 [%rd5], %want;\n").append(next);
  text +=
      "  ret;\n}\n"
      ".visible .entry nhalf_verify(.param .u64 address, .param .u64 size_bytes,\n"
      "  .param .u32 seed, .param .u64 wrong)\n{\n"
      "  .reg .u64 %count; .reg .u64 %sum; .reg .u32 %is;\n"
      "  mov.u64 %count, 0;\n";
  text.append(each_byte).append(
      "  ld.global.u8 %is, [%rd5]; setp.ne.u32 %p2, %is, %want;\n"
      "  @%p2 add.u64 %count, %count, 1;\n");
  text.append(next).append(
      "  ld.param.u64 %sum, [wrong]; cvta.to.global.u64 %sum, %sum;\n"
      "  red.global.add.u64 [%sum], %count;\n"
      "  ret;\n}\n");
  text +=
      ".visible .entry nhalf_clock(.param .u64 times, .param .u64 cycles)\n{\n"
      "  .reg .pred %p1; .reg .u64 %rd<8>;\n"
      "  ld.param.u64 %rd1, [times]; cvta.to.global.u64 %rd1, %rd1; ld.param.u64 %rd2, [cycles];\n"
      "  mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer;\n"
      "WAIT:\n"
      "  mov.u64 %rd5, %clock64; mov.u64 %rd6, %globaltimer; sub.u64 %rd7, %rd5, %rd3;\n"
      "  setp.lt.u64 %p1, %rd7, %rd2;\n"
      "  @%p1 bra WAIT;\n"
      "  st.global.u64 [%rd1], %rd3; st.global.u64 [%rd1+8], %rd4;\n"
      "  st.global.u64 [%rd1+16], %rd5; st.global.u64 [%rd1+24], %rd6;\n"
      "  ret;\n}\n";
  return text;
}
}  // namespace nhalf::gpu

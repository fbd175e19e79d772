#include "agent/gpu/kernels.h"

namespace souk::agent {

// clang-format off
const char* const kGpuKernels = R"ptx(.version 6.0
.target sm_52
.address_size 64

// out[i] = the entry of a matrix at i, for i < count.
.visible .entry souk_matrix(.param .u64 p_out, .param .u32 p_add, .param .u32 p_flip,
                            .param .u32 p_count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p_out];
  cvta.to.global.u64 %d1, %d1;
  ld.param.u32 %r1, [p_add];
  ld.param.u32 %r2, [p_flip];
  ld.param.u32 %r3, [p_count];
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mov.u32 %r6, %tid.x;
  mad.lo.u32 %r7, %r4, %r5, %r6;
  setp.ge.u32 %p1, %r7, %r3;
  @%p1 bra $matrix_end;
  mul.lo.u32 %r8, %r7, 0x9e3779b1;
  add.u32 %r8, %r8, %r1;
  shr.u32 %r9, %r8, 16;
  xor.b32 %r8, %r8, %r9;
  mul.lo.u32 %r8, %r8, 0x85ebca6b;
  xor.b32 %r8, %r8, %r2;
  shr.u32 %r9, %r8, 13;
  xor.b32 %r8, %r8, %r9;
  mul.lo.u32 %r8, %r8, 0xc2b2ae35;
  shr.u32 %r9, %r8, 16;
  xor.b32 %r8, %r8, %r9;
  mul.wide.u32 %d2, %r7, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r8;
$matrix_end:
  ret;
}

// c = a * b, n x n each, n a multiple of 64. A block of 16 x 16 threads makes 64 x 64 numbers of c,
// each thread 4 x 4. sa has 16 columns of a, each with 64 rows and 4 unused; sb 16 rows of b.
.visible .entry souk_product(.param .u64 p_c, .param .u64 p_a, .param .u64 p_b, .param .u32 p_n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<32>;
  .reg .b32 %a<4>;
  .reg .b32 %b<4>;
  .reg .b32 %c<16>;
  .reg .b64 %d<16>;
  .shared .align 16 .b8 sa[4352];
  .shared .align 16 .b8 sb[4096];
  ld.param.u64 %d1, [p_c];
  ld.param.u64 %d2, [p_a];
  ld.param.u64 %d3, [p_b];
  ld.param.u32 %r1, [p_n];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  cvta.to.global.u64 %d3, %d3;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %tid.y;
  shl.b32 %r4, %r3, 4;
  add.u32 %r4, %r4, %r2;
  mov.u32 %r5, %ctaid.x;
  shl.b32 %r5, %r5, 6;
  mov.u32 %r6, %ctaid.y;
  shl.b32 %r6, %r6, 6;
  // What this thread brings of a: row %r7 of the tile, columns %r8 to %r8 + 3.
  shr.u32 %r7, %r4, 2;
  and.b32 %r8, %r4, 3;
  shl.b32 %r8, %r8, 2;
  add.u32 %r9, %r6, %r7;
  mad.lo.u32 %r9, %r9, %r1, %r8;
  mul.wide.u32 %d4, %r9, 4;
  add.u64 %d4, %d2, %d4;
  mov.u32 %r10, sa;
  mad.lo.u32 %r11, %r8, 272, %r10;
  shl.b32 %r12, %r7, 2;
  add.u32 %r11, %r11, %r12;
  // And of b: row %r3 of the tile, columns 4 * tid.x to that + 3.
  shl.b32 %r13, %r2, 2;
  add.u32 %r14, %r5, %r13;
  mad.lo.u32 %r15, %r3, %r1, %r14;
  mul.wide.u32 %d5, %r15, 4;
  add.u64 %d5, %d3, %d5;
  mov.u32 %r16, sb;
  shl.b32 %r17, %r4, 4;
  add.u32 %r17, %r16, %r17;
  // Where it reads: rows 4 * tid.y of sa, columns 4 * tid.x of sb.
  shl.b32 %r18, %r3, 4;
  add.u32 %r18, %r10, %r18;
  shl.b32 %r19, %r2, 4;
  add.u32 %r19, %r16, %r19;
  shl.b32 %r20, %r1, 4;
  mul.wide.u32 %d6, %r20, 4;
  mov.u32 %c0, 0;
  mov.u32 %c1, 0;
  mov.u32 %c2, 0;
  mov.u32 %c3, 0;
  mov.u32 %c4, 0;
  mov.u32 %c5, 0;
  mov.u32 %c6, 0;
  mov.u32 %c7, 0;
  mov.u32 %c8, 0;
  mov.u32 %c9, 0;
  mov.u32 %c10, 0;
  mov.u32 %c11, 0;
  mov.u32 %c12, 0;
  mov.u32 %c13, 0;
  mov.u32 %c14, 0;
  mov.u32 %c15, 0;
  shr.u32 %r21, %r1, 4;
$product_tile:
  ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%d4];
  ld.global.v4.u32 {%b0, %b1, %b2, %b3}, [%d5];
  st.shared.u32 [%r11], %a0;
  st.shared.u32 [%r11+272], %a1;
  st.shared.u32 [%r11+544], %a2;
  st.shared.u32 [%r11+816], %a3;
  st.shared.v4.u32 [%r17], {%b0, %b1, %b2, %b3};
  bar.sync 0;
  mov.u32 %r22, %r18;
  mov.u32 %r23, %r19;
  mov.u32 %r24, 16;
$product_depth:
  ld.shared.v4.u32 {%a0, %a1, %a2, %a3}, [%r22];
  ld.shared.v4.u32 {%b0, %b1, %b2, %b3}, [%r23];
  mad.lo.u32 %c0, %a0, %b0, %c0;
  mad.lo.u32 %c1, %a0, %b1, %c1;
  mad.lo.u32 %c2, %a0, %b2, %c2;
  mad.lo.u32 %c3, %a0, %b3, %c3;
  mad.lo.u32 %c4, %a1, %b0, %c4;
  mad.lo.u32 %c5, %a1, %b1, %c5;
  mad.lo.u32 %c6, %a1, %b2, %c6;
  mad.lo.u32 %c7, %a1, %b3, %c7;
  mad.lo.u32 %c8, %a2, %b0, %c8;
  mad.lo.u32 %c9, %a2, %b1, %c9;
  mad.lo.u32 %c10, %a2, %b2, %c10;
  mad.lo.u32 %c11, %a2, %b3, %c11;
  mad.lo.u32 %c12, %a3, %b0, %c12;
  mad.lo.u32 %c13, %a3, %b1, %c13;
  mad.lo.u32 %c14, %a3, %b2, %c14;
  mad.lo.u32 %c15, %a3, %b3, %c15;
  add.u32 %r22, %r22, 272;
  add.u32 %r23, %r23, 256;
  sub.u32 %r24, %r24, 1;
  setp.ne.u32 %p1, %r24, 0;
  @%p1 bra $product_depth;
  bar.sync 0;
  add.u64 %d4, %d4, 64;
  add.u64 %d5, %d5, %d6;
  sub.u32 %r21, %r21, 1;
  setp.ne.u32 %p2, %r21, 0;
  @%p2 bra $product_tile;
  shl.b32 %r25, %r3, 2;
  add.u32 %r25, %r6, %r25;
  mad.lo.u32 %r26, %r25, %r1, %r14;
  mul.wide.u32 %d7, %r26, 4;
  add.u64 %d7, %d1, %d7;
  mul.wide.u32 %d8, %r1, 4;
  st.global.v4.u32 [%d7], {%c0, %c1, %c2, %c3};
  add.u64 %d7, %d7, %d8;
  st.global.v4.u32 [%d7], {%c4, %c5, %c6, %c7};
  add.u64 %d7, %d7, %d8;
  st.global.v4.u32 [%d7], {%c8, %c9, %c10, %c11};
  add.u64 %d7, %d7, %d8;
  st.global.v4.u32 [%d7], {%c12, %c13, %c14, %c15};
  ret;
}

// hashes[row] += the hash of the row of c; a block for each row. hashes are 0 before.
.visible .entry souk_rows(.param .u64 p_hashes, .param .u64 p_c, .param .u32 p_n,
                          .param .u64 p_seed)
{
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %d<16>;
  ld.param.u64 %d1, [p_hashes];
  ld.param.u64 %d2, [p_c];
  ld.param.u32 %r1, [p_n];
  ld.param.u64 %d3, [p_seed];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mul.lo.u32 %r5, %r2, %r1;
  mov.u64 %d4, 0;
$rows_next:
  setp.ge.u32 %p1, %r4, %r1;
  @%p1 bra $rows_end;
  add.u32 %r6, %r5, %r4;
  mul.wide.u32 %d5, %r6, 4;
  add.u64 %d5, %d2, %d5;
  ld.global.u32 %r7, [%d5];
  mov.b64 %d6, {%r4, %r7};
  xor.b64 %d6, %d6, %d3;
  shr.u64 %d7, %d6, 30;
  xor.b64 %d6, %d6, %d7;
  mul.lo.u64 %d6, %d6, 0xbf58476d1ce4e5b9;
  shr.u64 %d7, %d6, 27;
  xor.b64 %d6, %d6, %d7;
  mul.lo.u64 %d6, %d6, 0x94d049bb133111eb;
  shr.u64 %d7, %d6, 31;
  xor.b64 %d6, %d6, %d7;
  add.u64 %d4, %d4, %d6;
  add.u32 %r4, %r4, %r3;
  bra $rows_next;
$rows_end:
  mul.wide.u32 %d8, %r2, 8;
  add.u64 %d8, %d1, %d8;
  red.global.add.u64 [%d8], %d4;
  ret;
}

// Writes the chains, a thread for each; 32 lie side by side.
.visible .entry souk_fill(.param .u64 p_out, .param .u64 p_seed, .param .u64 p_chains)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<16>;
  ld.param.u64 %d1, [p_out];
  ld.param.u64 %d2, [p_seed];
  ld.param.u64 %d3, [p_chains];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %d4, %r4;
  setp.ge.u64 %p1, %d4, %d3;
  @%p1 bra $fill_end;
  add.u64 %d5, %d4, 1;
  mul.lo.u64 %d5, %d5, 0x9e3779b97f4a7c15;
  add.u64 %d5, %d5, %d2;
  shr.u64 %d6, %d5, 30;
  xor.b64 %d5, %d5, %d6;
  mul.lo.u64 %d5, %d5, 0xbf58476d1ce4e5b9;
  shr.u64 %d6, %d5, 27;
  xor.b64 %d5, %d5, %d6;
  mul.lo.u64 %d5, %d5, 0x94d049bb133111eb;
  shr.u64 %d6, %d5, 31;
  xor.b64 %d5, %d5, %d6;
  or.b64 %d5, %d5, 1;
  // Number i of chain c lies at (c / 32) * 32 * 8192 + i * 32 + c % 32.
  shr.u64 %d7, %d4, 5;
  shl.b64 %d7, %d7, 18;
  and.b64 %d8, %d4, 31;
  add.u64 %d7, %d7, %d8;
  shl.b64 %d7, %d7, 3;
  add.u64 %d7, %d1, %d7;
  mov.u32 %r5, 8192;
$fill_next:
  st.global.u64 [%d7], %d5;
  shl.b64 %d6, %d5, 13;
  xor.b64 %d5, %d5, %d6;
  shr.u64 %d6, %d5, 7;
  xor.b64 %d5, %d5, %d6;
  shl.b64 %d6, %d5, 17;
  xor.b64 %d5, %d5, %d6;
  mul.lo.u64 %d5, %d5, 0xbf58476d1ce4e5b9;
  add.u64 %d7, %d7, 256;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra $fill_next;
$fill_end:
  ret;
}

// sums[group] += what its reads come to; a block for each group. sums are 0 before.
.visible .entry souk_read(.param .u64 p_sums, .param .u64 p_words, .param .u64 p_numbers,
                          .param .u64 p_seed, .param .u64 p_reads)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %d<24>;
  ld.param.u64 %d1, [p_sums];
  ld.param.u64 %d2, [p_words];
  ld.param.u64 %d3, [p_numbers];
  ld.param.u64 %d4, [p_seed];
  ld.param.u64 %d5, [p_reads];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  cvt.u64.u32 %d6, %r1;
  mul.lo.u64 %d7, %d6, %d5;
  cvt.u64.u32 %d8, %r3;
  cvt.u64.u32 %d9, %r2;
  mov.u64 %d10, 0;
$read_next:
  setp.ge.u64 %p1, %d8, %d5;
  @%p1 bra $read_end;
  add.u64 %d11, %d7, %d8;
  add.u64 %d12, %d11, 1;
  mul.lo.u64 %d12, %d12, 0x9e3779b97f4a7c15;
  add.u64 %d12, %d12, %d4;
  shr.u64 %d13, %d12, 30;
  xor.b64 %d12, %d12, %d13;
  mul.lo.u64 %d12, %d12, 0xbf58476d1ce4e5b9;
  shr.u64 %d13, %d12, 27;
  xor.b64 %d12, %d12, %d13;
  mul.lo.u64 %d12, %d12, 0x94d049bb133111eb;
  shr.u64 %d13, %d12, 31;
  xor.b64 %d12, %d12, %d13;
  mul.hi.u64 %d14, %d12, %d3;
  // Number i of chain c, as souk_fill wrote it.
  shr.u64 %d15, %d14, 13;
  and.b64 %d16, %d14, 8191;
  shr.u64 %d17, %d15, 5;
  shl.b64 %d17, %d17, 18;
  shl.b64 %d16, %d16, 5;
  and.b64 %d15, %d15, 31;
  add.u64 %d17, %d17, %d16;
  add.u64 %d17, %d17, %d15;
  shl.b64 %d17, %d17, 3;
  add.u64 %d17, %d2, %d17;
  ld.global.u64 %d18, [%d17];
  add.u64 %d18, %d18, %d11;
  shr.u64 %d13, %d18, 30;
  xor.b64 %d18, %d18, %d13;
  mul.lo.u64 %d18, %d18, 0xbf58476d1ce4e5b9;
  shr.u64 %d13, %d18, 27;
  xor.b64 %d18, %d18, %d13;
  mul.lo.u64 %d18, %d18, 0x94d049bb133111eb;
  shr.u64 %d13, %d18, 31;
  xor.b64 %d18, %d18, %d13;
  add.u64 %d10, %d10, %d18;
  add.u64 %d8, %d8, %d9;
  bra $read_next;
$read_end:
  shl.b64 %d19, %d6, 3;
  add.u64 %d19, %d1, %d19;
  red.global.add.u64 [%d19], %d10;
  ret;
}
)ptx";
// clang-format on

}  // namespace souk::agent

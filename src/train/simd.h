#pragma once

// Loops that pay for wider vectors than plain x86-64 has are written once, inlined into two
// functions, and the processor is asked which to call. (target_clones would do the same, but its
// resolvers run before sanitizers are ready.) AVX2 without fused operations rounds as SSE2 does, so
// both give the same bits.

#define SOUK_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__)
#define SOUK_AVX2 __attribute__((target("avx2")))
#else
#define SOUK_AVX2
#endif

namespace souk::train {

inline bool has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

}  // namespace souk::train

// SOUK_WIDE(double, f, (const float* a, std::size_t n), (a, n)): defines f in terms of f_inline.
#define SOUK_WIDE(type, name, parameters, arguments)                               \
  SOUK_AVX2 static type name##_avx2 parameters { return name##_inline arguments; } \
  static type name##_plain parameters { return name##_inline arguments; }          \
  type name parameters { return has_avx2() ? name##_avx2 arguments : name##_plain arguments; }

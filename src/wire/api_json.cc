#include "wire/api_json.h"

namespace souk::wire {

#define SOUK_API_DEFINE(T)                                                            \
  template void write_json<T>(std::string&, const T&);                                \
  template bool detail::read<T>(const detail::Value&, const Path&, T&, base::Error&); \
  template std::string Schemas::of<T>();
SOUK_API_TYPES(SOUK_API_DEFINE)

}  // namespace souk::wire

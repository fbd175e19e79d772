#The job files of examples / as a source file of souk_server, made anew when one of them changes.

file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.yaml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${examples})
set(rows)
foreach(example ${examples})
  get_filename_component(name ${example} NAME_WE)
  file(READ ${example} text)
  string(APPEND rows "    {\"${name}\", R\"yaml(${text})yaml\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/samples/example_files.cc @ONLY CONTENT
[[// Made by src/server/samples.cmake.
#include "server/samples.h"

namespace souk::server {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
@rows@};

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> example_files() { return kFiles; }

}  // namespace souk::server
]])
target_sources(souk_server PRIVATE ${CMAKE_BINARY_DIR}/samples/example_files.cc)

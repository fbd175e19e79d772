# Text files as a source file of souk_server: a table of names and texts, which
# `std::span<const NamedText> FUNCTION()` (server/http/embedded.h) gives. The build runs this file again as
# a script, which writes the source, whenever one of the files changes.

if(CMAKE_SCRIPT_MODE_FILE)
  set(rows)
  foreach(file ${FILES})
    cmake_path(GET file STEM name)
    file(READ ${file} text)
    string(APPEND rows "      {\"${name}\", R\"yaml(${text})yaml\"},\n")
  endforeach()
  file(WRITE ${OUT} "// Made by embed.cmake.
#include \"server/http/embedded.h\"

namespace souk::server {

std::span<const NamedText> ${FUNCTION}() {
  static constexpr NamedText all[] = {
${rows}  };
  return all;
}

}  // namespace souk::server
")
  return()
endif()

function(souk_embed function)
  set(out ${CMAKE_BINARY_DIR}/${function}.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DOUT=${out} -DFUNCTION=${function}
            -P ${PROJECT_SOURCE_DIR}/src/server/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/src/server/embed.cmake
    COMMENT "Taking in ${function}" VERBATIM)
  target_sources(souk_server PRIVATE ${out})
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

file(GLOB job_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.yaml)
file(GLOB scenarios CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/lab/*.yaml)
souk_embed(example_jobs ${job_files})
souk_embed(example_scenarios ${scenarios})
souk_embed(lend_scripts ${PROJECT_SOURCE_DIR}/dist/lend.sh ${PROJECT_SOURCE_DIR}/dist/lend-none.sh)
souk_embed(guides ${PROJECT_SOURCE_DIR}/docs/agents.md)

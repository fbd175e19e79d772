# The scenarios of examples/lab as a source file of souk_server. The build runs this file again as a
# script, which writes it.

if(CMAKE_SCRIPT_MODE_FILE)
  set(rows)
  foreach(file ${FILES})
    cmake_path(GET file STEM name)
    file(READ ${file} text)
    string(APPEND rows "      {\"${name}\", R\"yaml(${text})yaml\"},\n")
  endforeach()
  file(WRITE ${OUT} "// Made by lab_examples.cmake.
#include \"server/lab_examples.h\"

namespace souk::server {

std::span<const LabExample> lab_examples() {
  static constexpr LabExample all[] = {
${rows}  };
  return all;
}

}  // namespace souk::server
")
  return()
endif()

file(GLOB lab_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/lab/*.yaml)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/lab_examples.cc
  COMMAND ${CMAKE_COMMAND} "-DFILES=${lab_examples}" -DOUT=${CMAKE_BINARY_DIR}/lab_examples.cc
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${lab_examples} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Taking in the example scenarios" VERBATIM)
target_sources(souk_server PRIVATE ${CMAKE_BINARY_DIR}/lab_examples.cc)

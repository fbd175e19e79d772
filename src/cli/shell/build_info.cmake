# The commit and the compiler as a source file of souk_cli (build_info.h). The build runs this file
# again as a script, every time; it writes the source only when something changed.

if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --dirty=+ --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(text "// Made by build_info.cmake.
#include \"cli/shell/build_info.h\"

namespace souk::cli {

BuildInfo build_info() { return {\"${commit}\", \"${BUILD}\"}; }

}  // namespace souk::cli
")
  set(before "")
  if(EXISTS ${OUT})
    file(READ ${OUT} before)
  endif()
  if(NOT text STREQUAL before)
    file(WRITE ${OUT} "${text}")
  endif()
  return()
endif()

set(build_info ${CMAKE_BINARY_DIR}/build_info.cc)
string(CONCAT build "${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, "
              "${CMAKE_SYSTEM_PROCESSOR}")
add_custom_target(build_info BYPRODUCTS ${build_info}
                  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${build_info}
                          "-DBUILD=${build}" -P ${CMAKE_CURRENT_LIST_FILE}
                  COMMENT "Looking for the commit" VERBATIM)
target_sources(souk_cli PRIVATE ${build_info})
set_source_files_properties(${build_info} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
                                                         SKIP_UNITY_BUILD_INCLUSION ON)
add_dependencies(souk_cli build_info)

# The web console as a source file of souk_server: what scripts/console makes of web/. Sanitizers
# have nothing to find in it, and without web/ there is nothing to build: then it is empty.

set(script ${PROJECT_SOURCE_DIR}/scripts/console)
set(web ${PROJECT_SOURCE_DIR}/web)
set(console ${CMAKE_BINARY_DIR}/console)
file(MAKE_DIRECTORY ${console})
file(GLOB package CONFIGURE_DEPENDS ${web}/package.json)
if(SOUK_CONSOLE AND package AND NOT SOUK_SANITIZE)
  find_program(NPM npm)
  if(NOT NPM)
    message(FATAL_ERROR "The console is built with npm, which is absent: scripts/setup build "
                        "installs it, and -DSOUK_CONSOLE=OFF builds without a console.")
  endif()
  file(GLOB settings CONFIGURE_DEPENDS ${web}/index.html ${web}/vite.config.* ${web}/package.json
                                       ${web}/tsconfig*.json ${web}/postcss.config.*)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/* ${web}/public/*)
  file(GLOB guides CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
  # npm's own note of what it installed tells when that was.
  set(installed ${web}/node_modules/.package-lock.json)
  add_custom_command(OUTPUT ${installed} COMMAND ${script} install
                     DEPENDS ${web}/package-lock.json
                     COMMENT "Installing what the console is built with" VERBATIM)
  add_custom_command(OUTPUT ${console}/console_files.cc
                     COMMAND ${script} build ${console}/dist ${console}/console_files.cc
                     DEPENDS ${script} ${installed} ${settings} ${sources} ${guides}
                     COMMENT "Building the console" VERBATIM)
else()
  add_custom_command(OUTPUT ${console}/console_files.cc
                     COMMAND ${script} none ${console}/console_files.cc
                     DEPENDS ${script} COMMENT "Building without the console" VERBATIM)
endif()
target_sources(souk_server PRIVATE ${console}/console_files.cc)
set_source_files_properties(${console}/console_files.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                                                                   SKIP_PRECOMPILE_HEADERS ON)

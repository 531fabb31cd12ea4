# build/kw: the one binary.
if(NOT DEFINED SKBUILD_SCRIPTS_DIR)
  set(SKBUILD_SCRIPTS_DIR bin)
endif()
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.cpp)
if(sources)
  add_executable(kw ${sources})
  target_compile_definitions(kw PRIVATE KW_VERSION="${PROJECT_VERSION}")
  target_link_libraries(kw PRIVATE kw_all)
  # `pip install .` puts it beside python.
  install(TARGETS kw DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT command)
endif()

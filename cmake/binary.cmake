# build/kw: the one binary.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.cpp)
if(sources)
  add_executable(kw ${sources})
  target_compile_definitions(kw PRIVATE KW_VERSION="${PROJECT_VERSION}")
  target_link_libraries(kw PRIVATE kw_all)
endif()

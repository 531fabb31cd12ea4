# tests/fuzz/TARGET.cpp -> fuzz_TARGET, a libFuzzer binary under the address and undefined-behaviour sanitizers.
file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp)
foreach(source ${targets})
  get_filename_component(target ${source} NAME_WE)
  add_executable(fuzz_${target} ${source})
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${target} PRIVATE kw_all)
endforeach()

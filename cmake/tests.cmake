# tests/unit/FOLDER/*.cpp   -> test_FOLDER, linked to kw_FOLDER and what it sees
# tests/KIND/*.cpp          -> test_KIND, linked to everything (golden, error, ...)
# tests/tools/NAME.cpp      -> NAME, linked to everything and to tests/tools/support: programs that the Python tests drive
# tests/fuzz/TARGET.cpp     -> replay_TARGET, which feeds the kept corpus to the fuzz target
find_package(GTest REQUIRED)

# Tests that run kernels start themselves as workers: their main is tests/worker_main.cc.
set(kw_tests_with_workers device measure verify perf golden error property gates gpu)

# Tests that take minutes run in so many processes, beside each other.
set(kw_tests_in_shards property gates)
set(kw_shards 8)

function(kw_add_test name library)
  add_executable(test_${name} ${ARGN})
  if(name IN_LIST kw_tests_with_workers)
    target_sources(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/worker_main.cc)
  else()
    target_link_libraries(test_${name} PRIVATE GTest::gtest_main)
  endif()
  # Only a file that asks for a path is told one: the others compile to the same bytes in every checkout.
  foreach(source ${ARGN})
    file(STRINGS ${source} asks REGEX "KW_(SOURCE|BINARY)_DIR" LIMIT_COUNT 1)
    if(asks)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
        KW_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KW_BINARY_DIR="${CMAKE_BINARY_DIR}")
    endif()
  endforeach()
  target_link_libraries(test_${name} PRIVATE ${library} GTest::gtest)
  if(NOT name IN_LIST kw_tests_in_shards)
    add_test(NAME ${name} COMMAND test_${name})
    return()
  endif()
  foreach(shard RANGE 1 ${kw_shards})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}_${shard} COMMAND test_${name})
    set_tests_properties(${name}_${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${kw_shards};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

file(STRINGS cmake/include_table.txt rows REGEX "^[a-z]+:")
foreach(row ${rows})
  string(REGEX MATCH "^[a-z]+" folder "${row}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/*.cpp)
  if(sources)
    kw_add_test(${folder} kw_${folder} ${sources})
  endif()
endforeach()

# A GPU for the tests of the worker, where there is none.
foreach(part driver kernels)
  add_library(fake_cuda_${part} MODULE ${CMAKE_SOURCE_DIR}/tests/unit/device/fake_gpu/${part}.cc)
  add_dependencies(test_device fake_cuda_${part})
endforeach()

# Folders below these hold kernels that the tests compile themselves.
foreach(kind error property gates)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${kind}/*.cpp)
  if(sources)
    kw_add_test(${kind} kw_all ${sources})
  endif()
endforeach()

# tests/gpu/*.cpp          -> test_gpu, which is built and not run here: it needs a GPU
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/gpu/*.cpp)
if(sources)
  kw_add_test(gpu kw_all ${sources})
  target_compile_definitions(test_gpu PRIVATE
    KW_SOURCE_DIR="${CMAKE_SOURCE_DIR}" KW_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set_tests_properties(gpu PROPERTIES DISABLED TRUE)
endif()

file(GLOB support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/tools/support/*.cpp)
add_library(kw_test_tools STATIC ${support})
target_include_directories(kw_test_tools PUBLIC ${CMAKE_SOURCE_DIR}/tests/tools/support)
target_link_libraries(kw_test_tools PUBLIC kw_all)
target_link_libraries(test_gates PRIVATE kw_test_tools)  # what makes mutants is tested where they are used
file(GLOB tools CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/tools/*.cpp)
foreach(source ${tools})
  get_filename_component(tool ${source} NAME_WE)
  add_executable(${tool} ${source})
  target_link_libraries(${tool} PRIVATE kw_test_tools)
endforeach()

file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp)
foreach(source ${targets})
  get_filename_component(target ${source} NAME_WE)
  add_executable(replay_${target} ${source} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.cc)
  target_link_libraries(replay_${target} PRIVATE kw_all)
  add_test(NAME fuzz_replay_${target} COMMAND replay_${target} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${target})
endforeach()

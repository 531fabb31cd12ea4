# The libraries that the engine stands on, all from the distribution's packages, none of them shared at run time.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_library(KW_YAML_CPP NAMES libyaml-cpp.a REQUIRED)

add_library(kw_dependencies INTERFACE)
target_include_directories(kw_dependencies INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(kw_dependencies INTERFACE FMT_HEADER_ONLY)
# A field that an aggregate leaves out has its default on purpose.
target_compile_options(kw_dependencies INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
target_link_libraries(kw_dependencies INTERFACE ${KW_YAML_CPP} Threads::Threads ${CMAKE_DL_LIBS})

if(KW_FUZZ)
  target_compile_options(kw_dependencies INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(kw_dependencies INTERFACE -fsanitize=address,undefined)
else()
  target_compile_options(kw_dependencies INTERFACE -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    # What the optimiser guesses of inlined library code differs by version, and newer guesses are wrong about fmt.
    target_compile_options(kw_dependencies INTERFACE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict -Wno-maybe-uninitialized
      -Wno-dangling-reference)
  endif()
  target_link_options(kw_dependencies INTERFACE -static-libstdc++ -static-libgcc)
endif()

execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE KW_GLIBC OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "glibc " "" KW_GLIBC "${KW_GLIBC}")
if(KW_GLIBC VERSION_GREATER_EQUAL 2.38)
  target_compile_options(kw_dependencies INTERFACE -include ${CMAKE_SOURCE_DIR}/src/base/glibc_floor.h)
endif()

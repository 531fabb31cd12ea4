# kw_embed_files(TARGET GLOB...) makes a library that holds the bytes of every file that the globs match, so that the
# binary needs none of them beside it. `kw::embedded::file(path)` of base/embedded.h finds them.
function(kw_embed_files target)
  set(files)
  foreach(pattern ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${pattern})
    list(APPEND files ${found})
  endforeach()
  list(FILTER files EXCLUDE REGEX "__pycache__")
  list(REMOVE_DUPLICATES files)
  list(SORT files)
  list(TRANSFORM files PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE depends)

  # The list is a file of its own, rewritten only when it changes: a file that vanishes rebuilds the library too.
  set(manifest ${CMAKE_BINARY_DIR}/embedded/manifest.txt)
  string(JOIN "\n" text ${files})
  file(CONFIGURE OUTPUT ${manifest} CONTENT "${text}\n" @ONLY)

  set(generated ${CMAKE_BINARY_DIR}/embedded/files.cpp)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DMANIFEST=${manifest} -DOUTPUT=${generated}
            -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${depends} ${manifest} ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    COMMENT "Embedding files" VERBATIM)
  add_library(${target} STATIC ${generated})
  target_link_libraries(${target} PUBLIC kw_dependencies)
endfunction()

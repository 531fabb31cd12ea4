# Run at build time: writes OUTPUT, a table of the paths in MANIFEST (relative to ROOT) and their bytes.
file(STRINGS ${MANIFEST} paths)
set(rows)
set(count 0)
foreach(path ${paths})
  file(READ ${ROOT}/${path} content)
  # A compiler need not accept one literal of any length, so long files become several adjacent ones.
  string(LENGTH "${content}" length)
  set(literals)
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${content}" ${start} 8000 piece)
    string(APPEND literals "R\"kwfile(${piece})kwfile\"")
    math(EXPR start "${start} + 8000")
  endwhile()
  if(length EQUAL 0)
    set(literals "\"\"")
  endif()
  string(APPEND rows "    {\"${path}\"sv, ${literals}sv},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"base/embedded.h\"

namespace kw::embedded {
using namespace std::string_view_literals;
static constexpr File kFiles[] = {
    {\"\"sv, \"\"sv},
${rows}};
std::span<const File> all() { return std::span<const File>(kFiles).subspan(1); }
}  // namespace kw::embedded
")

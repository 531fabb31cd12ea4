# Run at build time: writes OUTPUT, a table of the paths in MANIFEST (relative to ROOT) and their bytes.
file(STRINGS ${MANIFEST} paths)
set(rows)
foreach(path ${paths})
  file(READ ${ROOT}/${path} content)
  string(APPEND rows "    {\"${path}\"sv, R\"kwfile(${content})kwfile\"sv},\n")
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

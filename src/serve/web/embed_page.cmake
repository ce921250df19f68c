# SPDX-License-Identifier: Apache-2.0
# cmake -DPAGE=<folder> -DOUTPUT=<file.cc> -P embed_page.cmake
# Writes the files of the folder as constants: what page_files.h declares.

set(types html "text/html\; charset=utf-8" css "text/css\; charset=utf-8"
          js "text/javascript\; charset=utf-8" svg "image/svg+xml")

file(GLOB files ${PAGE}/*)
list(SORT files)
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "^.*\\." "" extension ${name})
  list(FIND types ${extension} place)
  if(place LESS 0)
    message(FATAL_ERROR "${name}: no content type for .${extension}")
  endif()
  math(EXPR place "${place} + 1")
  list(GET types ${place} type)
  string(REPLACE "index.html" "" path ${name})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  # Pieces, for compilers need not take a longer literal than 64 KiB and no line helps anybody.
  string(REGEX REPLACE "((\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..))"
         "\\1\"\n    \"" bytes "${bytes}")
  file(SIZE ${file} size)
  string(APPEND arrays "constexpr char kFile${index}[] =\n    \"${bytes}\";\n")
  string(APPEND rows "    {\"/${path}\", \"${type}\", {kFile${index}, ${size}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(REPLACE "\\;" ";" rows "${rows}")

file(WRITE ${OUTPUT} "#include \"serve/web/page_files.h\"

namespace everywatt::web {
namespace {
${arrays}
constexpr PageFile kFiles[] = {
${rows}};
}  // namespace

std::span<const PageFile> page_files() {
  return kFiles;
}

}  // namespace everywatt::web
")

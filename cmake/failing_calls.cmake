# SPDX-License-Identifier: Apache-2.0
# everywatt_failing_calls(<test target>): the system calls of the rooms that a test program links go
# through src/base/failing_calls.h, which one of its files includes. The names are those of its
# table.

function(everywatt_failing_calls target)
  file(STRINGS ${CMAKE_SOURCE_DIR}/src/base/failing_calls.inc lines REGEX "^CALL\\(")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^CALL\\([^,]*, ([a-z0-9_]+),.*" "\\1" name ${line})
    target_link_options(${target} PRIVATE -Wl,--wrap=${name})
  endforeach()
endfunction()

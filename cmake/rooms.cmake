# SPDX-License-Identifier: Apache-2.0
# A room is a folder below src/ and one target. Its sources are found by their names:
#
#   main.cc              a program's, taken by everywatt_program
#   *_test.cc            linked together into test_<room>
#   *_torture_test.cc    linked together into torture_<room>
#   *_bench.cc           linked together into bench_<room>, built by target `benches`
#   *_fuzz.cc            one program each, fuzz_<file name less _fuzz>, under EVERYWATT_FUZZ; and part
#                        of test_<room>, which replays tests/corpus/<file name less _fuzz>
#   other *.cc           the static library ew_<room>
#
# where <room> is the path below src/ with '/' written as '_'.

# `product` is all that ships; the other two nobody builds unless asked.
add_custom_target(product)
add_custom_target(benches)
add_custom_target(fuzzers)

function(everywatt_room_target room result)
  string(REPLACE "/" "_" name ${room})
  set(${result} ew_${name} PARENT_SCOPE)
endfunction()

# The test programs of a room know where the checkout and the build are.
function(everywatt_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;NEEDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE EVERYWATT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             EVERYWATT_BUILD_DIR="${CMAKE_BINARY_DIR}")
  if(arg_NEEDS)
    add_dependencies(${name} ${arg_NEEDS})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300
    ENVIRONMENT "EVERYWATT_SOURCE_DIR=${CMAKE_SOURCE_DIR};EVERYWATT_BUILD_DIR=${CMAKE_BINARY_DIR}")
endfunction()

# everywatt_room(<path below src> [DEPS room...] [LIBS external...]
#                [TEST_DEPS room...] [TEST_LIBS external...] [TEST_NEEDS target...])
# DEPS are rooms by path (`base catalog device/nvml`); both pass on to who links this room.
# TEST_DEPS and TEST_LIBS are linked into its tests, benchmarks and fuzzers alone, and TEST_NEEDS
# are built before those run: programs that they start, libraries that they load.
function(everywatt_room room)
  cmake_parse_arguments(arg "" "" "DEPS;LIBS;TEST_DEPS;TEST_LIBS;TEST_NEEDS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "everywatt_room(${room}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  everywatt_room_target(${room} target)
  string(REPLACE "/" "_" name ${room})
  set(folder ${CMAKE_SOURCE_DIR}/src/${room})

  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(torture_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_torture_test\\.cc$")
  list(FILTER torture_tests INCLUDE REGEX "_torture_test\\.cc$")
  set(benches ${sources})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  set(fuzzers ${sources})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|/main)\\.cc$")

  set(links ${arg_LIBS})
  set(test_links ${target} ${arg_TEST_LIBS})
  foreach(dep IN LISTS arg_DEPS)
    everywatt_room_target(${dep} dep_target)
    list(APPEND links ${dep_target})
  endforeach()
  foreach(dep IN LISTS arg_TEST_DEPS)
    everywatt_room_target(${dep} dep_target)
    list(APPEND test_links ${dep_target})
  endforeach()
  foreach(dep IN LISTS arg_DEPS arg_TEST_DEPS)
    set_property(GLOBAL APPEND PROPERTY everywatt_wanted_rooms "${dep} (wanted by ${room})")
  endforeach()

  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} ${scope} ${links} Threads::Threads)

  if(tests OR fuzzers)
    everywatt_add_test(test_${name} SOURCES ${tests} ${fuzzers} LINK ${test_links}
                       NEEDS ${arg_TEST_NEEDS})
  endif()
  if(torture_tests)
    everywatt_add_test(torture_${name} SOURCES ${torture_tests} LINK ${test_links}
                       NEEDS ${arg_TEST_NEEDS})
    # It takes every core there is.
    set_tests_properties(torture_${name} PROPERTIES RUN_SERIAL ON)
  endif()
  if(benches)
    add_executable(bench_${name} EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(bench_${name} PRIVATE ${test_links} benchmark::benchmark_main)
    set_target_properties(bench_${name} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    if(arg_TEST_NEEDS)
      add_dependencies(bench_${name} ${arg_TEST_NEEDS})
    endif()
    add_dependencies(benches bench_${name})
  endif()
  if(EVERYWATT_FUZZ)
    foreach(source IN LISTS fuzzers)
      get_filename_component(fuzzer ${source} NAME_WE)
      string(REGEX REPLACE "_fuzz$" "" fuzzer ${fuzzer})
      add_executable(fuzz_${fuzzer} EXCLUDE_FROM_ALL ${source})
      target_link_libraries(fuzz_${fuzzer} PRIVATE ${test_links})
      target_link_options(fuzz_${fuzzer} PRIVATE -fsanitize=fuzzer)
      target_compile_definitions(fuzz_${fuzzer} PRIVATE EVERYWATT_FUZZER)
      set_target_properties(fuzz_${fuzzer} PROPERTIES
                            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
      add_dependencies(fuzzers fuzz_${fuzzer})
    endforeach()
  endif()
endfunction()

# everywatt_program(<name> <room> [LIBS external...]): the room's main.cc, linked with the room.
function(everywatt_program name room)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  everywatt_room_target(${room} target)
  add_executable(${name} ${CMAKE_SOURCE_DIR}/src/${room}/main.cc)
  target_link_libraries(${name} PRIVATE ew_old_glibc ${target} ${arg_LIBS})
endfunction()

# Makes `product` of the programs and shared libraries that a room's folder made for itself.
function(everywatt_collect_product folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$"
       AND NOT target MATCHES "^(test|torture|bench|fuzz)_")
      add_dependencies(product ${target})
    endif()
  endforeach()
endfunction()

# A misspelt room would otherwise become a library to look for on the machine.
function(everywatt_check_rooms)
  get_property(wanted GLOBAL PROPERTY everywatt_wanted_rooms)
  foreach(wish IN LISTS wanted)
    string(REGEX REPLACE " .*" "" room ${wish})
    everywatt_room_target(${room} target)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "no such room: ${wish}")
    endif()
  endforeach()
endfunction()

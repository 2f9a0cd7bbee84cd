# berth_quick_to_compile(TARGET) -- for what spends its time in the libraries: it need not be fast,
# and takes half as long to compile.
function(berth_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# berth_precompile(TARGET HEADERS...) -- headers of other libraries that most of its files include.
function(berth_precompile target)
  if(BERTH_PRECOMPILED_HEADERS AND ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# berth_target(TARGET) -- what every target of this project is compiled with.
function(berth_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  # Plans must not depend on whether the machine has fused multiply-add.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    # g++ 12 warns of overlapping or overlong copies within std::string's own operator+ (GCC bug
    # 105651), on some lengths of a literal only, such as that of the source folder's path.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
    $<$<BOOL:${BERTH_WERROR}>:-Werror>)
  if(BERTH_BUILD_FUZZERS)
    # Fuzzers need coverage of the library. Where tests run the same code, only what costs little.
    if(BERTH_BUILD_TESTS)
      target_compile_options(${target} PRIVATE -fsanitize-coverage=inline-8bit-counters,pc-table)
    else()
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endif()
  if(BERTH_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${BERTH_SANITIZE}
      -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(BERTH_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
      # References to locals of functions that have returned; clang looks for them only if asked.
      target_compile_options(${target} PRIVATE -fsanitize-address-use-after-return=always)
    endif()
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
    target_link_options(${target} PUBLIC -fsanitize=${BERTH_SANITIZE})
  endif()
endfunction()

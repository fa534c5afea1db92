# SPDX-License-Identifier: MIT
# Which wishes the installed version file grants: cmake -DFILE=... -DVERSION=0.1.0 -P versions.cmake

# expect(TRUE|FALSE VERSION): find_package(hashdist VERSION) of a program on this kind of machine
function(expect granted wish)
  string(REPLACE "." ";" parts "${wish}")
  list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)
  set(PACKAGE_FIND_VERSION "${wish}")
  include("${FILE}")
  if((granted AND NOT PACKAGE_VERSION_COMPATIBLE) OR (NOT granted AND PACKAGE_VERSION_COMPATIBLE))
    message(SEND_ERROR "${VERSION} for ${wish}: ${PACKAGE_VERSION_COMPATIBLE}, not ${granted}")
  endif()
endfunction()

# expect_range(TRUE|FALSE MIN MAX INCLUDE|EXCLUDE): find_package(hashdist MIN...MAX), or MIN...<MAX
function(expect_range granted min max end)
  set(PACKAGE_FIND_VERSION "${min}")
  set(PACKAGE_FIND_VERSION_RANGE "${min}...${max}")
  set(PACKAGE_FIND_VERSION_MIN "${min}")
  set(PACKAGE_FIND_VERSION_MAX "${max}")
  set(PACKAGE_FIND_VERSION_RANGE_MAX "${end}")
  include("${FILE}")
  if((granted AND NOT PACKAGE_VERSION_COMPATIBLE) OR (NOT granted AND PACKAGE_VERSION_COMPATIBLE))
    message(SEND_ERROR "${VERSION} for ${min}...${max} ${end}: not ${granted}")
  endif()
endfunction()

string(REPLACE "." ";" parts "${VERSION}")
list(GET parts 0 major)
list(GET parts 1 minor)
math(EXPR next_major "${major} + 1")
math(EXPR next_minor "${minor} + 1")

expect(TRUE "${VERSION}")
expect(TRUE "${major}.${minor}")
expect(FALSE "${VERSION}.1")
expect(FALSE "${major}.${next_minor}")
expect(FALSE "${next_major}.0")
expect_range(TRUE "0.0" "${VERSION}" INCLUDE)
expect_range(FALSE "0.0" "${VERSION}" EXCLUDE)
expect_range(TRUE "0.0" "${major}.${next_minor}" EXCLUDE)
expect_range(FALSE "${major}.${next_minor}" "${next_major}.0" INCLUDE)

# A program of another pointer size.
set(CMAKE_SIZEOF_VOID_P 2)
set(PACKAGE_FIND_VERSION)
include("${FILE}")
if(NOT PACKAGE_VERSION_UNSUITABLE)
  message(SEND_ERROR "a library of another pointer size is offered")
endif()

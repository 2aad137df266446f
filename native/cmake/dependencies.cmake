# SPDX-License-Identifier: GPL-3.0-or-later
#
# CHOLMOD and OpenBLAS for preparing. On a developer's machine they are the system's; the package that artists
# install brings its own (native/packaging).

add_library(softrig_dependencies INTERFACE)
if(SR_BUNDLED_DEPENDENCIES)
    include(${CMAKE_CURRENT_SOURCE_DIR}/packaging/bundled.cmake)
else()
    find_path(SR_CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
    find_library(SR_CHOLMOD_LIBRARY cholmod REQUIRED)
    find_library(SR_SUITESPARSECONFIG_LIBRARY suitesparseconfig REQUIRED)
    find_library(SR_OPENBLAS_LIBRARY openblas REQUIRED)
    target_include_directories(softrig_dependencies SYSTEM INTERFACE ${SR_CHOLMOD_INCLUDE})
    target_link_libraries(softrig_dependencies INTERFACE ${SR_CHOLMOD_LIBRARY} ${SR_SUITESPARSECONFIG_LIBRARY}
                                                         ${SR_OPENBLAS_LIBRARY})
endif()

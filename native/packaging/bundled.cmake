# SPDX-License-Identifier: GPL-3.0-or-later
#
# The dependencies of the package that artists install: AMD, COLAMD and CHOLMOD compiled from SuiteSparse's
# sources (5.x or 7.x) into our library, OpenBLAS as a library that lies beside it. Only symbols of `softrig.map` leave.
#
# SR_SUITESPARSE_SOURCE: the unpacked sources. SR_OPENBLAS_FOLDER: where libscipy_openblas.so lies.

set(SR_SUITESPARSE_SOURCE "" CACHE PATH "Unpacked sources of SuiteSparse")
set(SR_OPENBLAS_FOLDER "" CACHE PATH "Folder of libscipy_openblas.so")
set(SR_CHOLMOD_SOURCE ${SR_SUITESPARSE_SOURCE}/CHOLMOD)

# the core of CHOLMOD has another name since 7.0
if(EXISTS ${SR_CHOLMOD_SOURCE}/Core/cholmod_common.c)
    set(SR_CHOLMOD_CORE Core)
elseif(EXISTS ${SR_CHOLMOD_SOURCE}/Utility/cholmod_start.c)
    set(SR_CHOLMOD_CORE Utility)
else()
    message(FATAL_ERROR "These sources of SuiteSparse are neither 5.x nor 7.x: ${SR_SUITESPARSE_SOURCE}")
endif()

file(GLOB SR_THIRD_PARTY_SOURCES CONFIGURE_DEPENDS
    ${SR_SUITESPARSE_SOURCE}/SuiteSparse_config/SuiteSparse_config.c
    ${SR_SUITESPARSE_SOURCE}/AMD/Source/amd_*.c
    ${SR_SUITESPARSE_SOURCE}/COLAMD/Source/colamd*.c
    ${SR_CHOLMOD_SOURCE}/${SR_CHOLMOD_CORE}/cholmod_*.c
    ${SR_CHOLMOD_SOURCE}/Cholesky/cholmod_*.c
    ${SR_CHOLMOD_SOURCE}/Supernodal/cholmod_*.c)
# 32-bit indices only
list(FILTER SR_THIRD_PARTY_SOURCES EXCLUDE REGEX "/(amd_l[0-9_]?[a-z0-9]*|colamd_l|cholmod_l_[a-z0-9_]*)\\.c$")

add_library(softrig_third_party OBJECT ${SR_THIRD_PARTY_SOURCES})
target_include_directories(softrig_third_party SYSTEM PUBLIC
    ${SR_SUITESPARSE_SOURCE}/SuiteSparse_config
    ${SR_SUITESPARSE_SOURCE}/AMD/Include
    ${SR_SUITESPARSE_SOURCE}/COLAMD/Include
    ${SR_CHOLMOD_SOURCE}/Include
    ${SR_CHOLMOD_SOURCE})
target_include_directories(softrig_third_party PRIVATE ${SR_CHOLMOD_SOURCE}/Core ${SR_CHOLMOD_SOURCE}/Cholesky
                                                       ${SR_CHOLMOD_SOURCE}/Supernodal)
target_compile_definitions(softrig_third_party PRIVATE NCHECK NMATRIXOPS NMODIFY NPARTITION DINT NDEBUG NPRINT)
target_compile_options(softrig_third_party PRIVATE
    -w -O2 -fno-sanitize=undefined -ffp-contract=off -fno-strict-aliasing -ffunction-sections
    -fdata-sections -fmacro-prefix-map=${SR_SUITESPARSE_SOURCE}=SuiteSparse -include ${CMAKE_CURRENT_LIST_DIR}/scipy_blas.h)
set_target_properties(softrig_third_party PROPERTIES C_VISIBILITY_PRESET hidden C_EXTENSIONS ON)

# the same bytes in whatever folder it is built
target_compile_options(softrig_options INTERFACE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_compile_definitions(softrig_dependencies INTERFACE SR_BLAS_PREFIX=scipy_ NCHECK NMATRIXOPS NMODIFY NPARTITION)
target_include_directories(softrig_dependencies SYSTEM INTERFACE
    $<TARGET_PROPERTY:softrig_third_party,INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
target_link_libraries(softrig_dependencies INTERFACE $<TARGET_OBJECTS:softrig_third_party>
                                                     ${SR_OPENBLAS_FOLDER}/libscipy_openblas.so)

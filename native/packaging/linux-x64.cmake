# SPDX-License-Identifier: GPL-3.0-or-later
#
# Toolchain of the package for Linux on x86-64: zig's clang, against glibc 2.28 (Debian 10, Ubuntu 18.10, RHEL 8
# and later). SR_ZIG: the program `zig`.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER "${SR_ZIG};cc")
set(CMAKE_C_COMPILER_TARGET x86_64-linux-gnu.2.28)
set(CMAKE_CXX_COMPILER "${SR_ZIG};c++")
set(CMAKE_CXX_COMPILER_TARGET x86_64-linux-gnu.2.28)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SR_ZIG)

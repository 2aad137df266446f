# SPDX-License-Identifier: GPL-3.0-or-later
"""Speaks C: finds, checks and calls the library. The only room with ctypes; knows no Blender."""

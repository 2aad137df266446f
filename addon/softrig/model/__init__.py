# SPDX-License-Identifier: GPL-3.0-or-later
"""Thinks: what a character is, what happens when, what is owed. Knows no Blender."""

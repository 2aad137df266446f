# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves data between Blender and the model in bulk, and carries out what the model decided."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests in Blender share: the installed add-on, small characters, measures."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample character and its demo: one scene for tests, benches and eyes.

`field`, `surface`, `skeleton`, `paint` and `motion` are numpy or plain Python and need no Blender;
`character`, `render` and `demo` run inside Blender.
"""

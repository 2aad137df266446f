# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of random things that an artist may do, and what must hold after each."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""The boundary to Blender: what goes wrong behind a door is logged once, never thrown."""

import functools
import logging
from collections.abc import Callable
from typing import Any

from ..model.session import Session, current

log = logging.getLogger(__name__)


def usable() -> Session | None:
    """The session, unless its library failed, our own private scene is being stepped, or Blender
    goes through its history."""
    session = current()
    if session is None or session.api is None or session.recording or session.in_history:
        return None
    return session


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Catches everything; the panel shows the last sentence, the log gets each one once."""
    seen: set[str] = set()

    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            if repr(error) not in seen:
                seen.add(repr(error))
                log.exception("in %s", function.__name__)
            session = current()
            if session is not None:
                session.fault = f"{type(error).__name__}: {error}"
            return None

    return wrapper

# SPDX-License-Identifier: Apache-2.0
"""The log of a program, as marks with levels."""
import logging
import sys
from typing import Any, Optional

from nvtxt import _event, _library, _life

# From this level of logging on: the level of syslog(3), and the colour that nvtxt-send gives it.
_LEVELS = ((logging.CRITICAL, 2, "DarkRed"), (logging.ERROR, 3, "Red"),
           (logging.WARNING, 4, "Orange"), (logging.INFO + 1, 5, "Gold"),
           (logging.INFO, 6, "DodgerBlue"), (-sys.maxsize, 7, "Gray"))


class Handler(logging.Handler):
    """Records what is logged as marks, with levels as in syslog(3).

    The category is the name of the logger. Make it before the first event:
    later the library cannot say any more that the program has a log, and
    the level is a payload and a colour only.
    """

    def __init__(self, level: Any = logging.NOTSET, domain: Optional[str] = None) -> None:
        super().__init__(level)
        self._domain = domain
        self._levels = [(least, number, _event.read_color(color)) for least, number, color in
                        (_LEVELS if _library.IS_THERE else ())]
        if _library.IS_THERE:
            _event.begin_levels()

    def emit(self, record: logging.LogRecord) -> None:
        """Records one record."""
        if not _library.IS_THERE:
            return
        try:
            _life.here.seen
            for least, level, color in self._levels:
                if record.levelno >= least:
                    break
            event = _event.find("", color, record.name, self._domain)
            event.record_line(_library.mark_ex, self.format(record), level)
        except Exception:
            self.handleError(record)

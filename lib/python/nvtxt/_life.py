# SPDX-License-Identifier: Apache-2.0
"""What begins and ends: threads, which have names, and processes, which have an end."""
import os
import sys
import threading
from typing import Any

from nvtxt import _event, _library


class _Here(threading.local):
    """Its first use in a thread tells the name that the program gave the thread."""

    seen = True

    def __init__(self) -> None:
        try:
            # As current_thread(), which makes one where there is none.
            thread = threading._active.get(threading.get_ident())  # type: ignore
            if thread is not None and thread is not threading.main_thread():
                _library.name_thread(0, _event.text(thread.name))
        except Exception:
            pass


here: Any = _Here() if _library.IS_THERE else None

_knows_workers = False


# A worker of multiprocessing ends by _exit(). Before that it runs its finalizers, but those that it
# has when it begins are forgotten: there it is told.
def _finish_with_worker(_: Any) -> None:
    util: Any = sys.modules["multiprocessing.util"]
    util.Finalize(None, _library.finish, exitpriority=-1000)  # after those of the program


def _know_workers() -> None:
    global _knows_workers
    util: Any = sys.modules.get("multiprocessing.util")
    process: Any = sys.modules.get("multiprocessing.process")
    if util is None or process is None or _knows_workers:
        return
    _knows_workers = True
    util.register_after_fork(_Here, _finish_with_worker)
    if getattr(process.current_process(), "_parent_pid", None) is not None:
        _finish_with_worker(None)


def _after_fork() -> None:
    try:  # what makes processes may have been imported since
        _know_workers()
    except Exception:
        pass


def begin() -> None:
    """Looks after the children of this process from now on."""
    os.register_at_fork(after_in_child=_after_fork)
    _know_workers()

# SPDX-License-Identifier: Apache-2.0
"""The JSON of every command of nvtxt-report fits its schema, whatever names, numbers and times do."""
from client import Folder
from lib import run
from report import f1, make_store
from test_report_schema import check, command_lines

HOSTILE = """\
#nvtxt-session {"protocol":1,"nvtx":1,"escapes":1}
ProcessId = 16777215
@RangePush, Time, ThreadId, CategoryId, Color, Message, Payload
@RangePop, Time, ThreadId
@Marker, Time, ThreadId, Message, Payload
@SetThreadName, ThreadId, Name
@SetCategoryName, CategoryId, Name
SetThreadName, 1, "a \\"thread\\" </script>"
SetCategoryName, 4294967295, "caf\u00e9 \u2028 \u202e"
RangePush, -9223372036854775808, 1, 4294967295, 0xFFFFFFFF, "<!--\\\\ \\t", "nan"
RangePush, -1, 1, 0, 0, "", "u64:18446744073709551615"
Marker, 0, 1, "{\\"a\\":1}", "i64:-9223372036854775808"
Marker, 0, 1, "%s %%n", "f64:-inf"
Marker, 9223372036854775807, 1, "\U0001f600", "f64:1e-320"
RangePop, -2, 1
RangePop, 9223372036854775807, 1
RangePush, 5, 2, 1, Blue, "never closed; a;b", "1"
RangeStartEnd, 10, 5, Manual, 16777215, 2, 0, 0, "backward", 1
RangeStartEnd, 7, 7, Manual, 16777215, 2, 0, 0, "no length", 1
no command at all
Marker, 1, 1, "unterminated
"""


def test_every_command_fits_on_hostile_texts_and_numbers():
    with Folder() as folder:
        store = make_store(folder, "hostile.sqlite", folder.write("h.nvtxt", HOSTILE), status=1)
        for line in command_lines(store, f1(folder)):
            check(line)


if __name__ == "__main__":
    run(globals())

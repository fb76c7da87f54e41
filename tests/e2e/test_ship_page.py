# SPDX-License-Identifier: Apache-2.0
"""doc/fleet.md: its ten commands, all but the building, and what it asks and brings back, as an ordinary
user."""
import os
import re
import subprocess
import tempfile
import time

from fleet_board import TOP, names
from lib import DEADLINE, Skip, equal, program, run
from postgres import Postgres

ENDED = """
nvtxt-send -q --socket "$F/b/data.sock" more
for n in $(seq 300); do
  psql -qAtc "SELECT host, events FROM nvtxt.fleet ORDER BY host" > said
  test "$(cat said)" = "$(printf 'a|3\\nb|4')" && break
  sleep 0.2
done
kill $(jobs -p)
wait $(jobs -p) || :
cat said
"""

REPORT = os.access(program("client", "nvtxt-report"), os.X_OK)
# What the page says of a database and a host of its own, and what they are here.
HERE = {"/usr/share/nvtxtd/fleet/queries": os.path.abspath(TOP) + "/ship/queries", "psql nvtxt ": "psql ",
        "'web%'": "%", "--host web17": "--host a"}


def page():
    with open(os.path.join(TOP, "doc", "fleet.md"), encoding="utf-8") as file:
        return file.read()


def commands():
    """What the first block of the page says, without the building."""
    block = re.search(r"## Ten commands.*?```sh\n(.*?)```", page(), re.S)[1].splitlines()
    equal([line.rsplit("#", 1)[1].strip() for line in block], [str(n + 1) for n in range(10)])
    assert block[0].startswith("./autogen.sh"), block[0]
    return block[1:]


def asking_and_back():
    """The last two blocks of commands. Its times are of a day that the test does not know."""
    asking, back = re.findall(r"```sh\n(.*?)```", page(), re.S)[-2:]
    assert asking.startswith("psql ") and back.startswith("nvtxt-ship pull "), (asking, back)
    text = asking + (back if REPORT else back[:back.index("nvtxt-report")])
    for said, means in HERE.items():
        text = text.replace(said, means)
    now = time.time()
    for option, moment in (("since", now - 3600), ("until", now + 3600)):
        said = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
        text, times = re.subn(r"--%s \S+" % option, "--%s %s" % (option, said), text)
        equal(times, 1, text)
    return text


def test_the_ten_commands_bring_two_hosts_into_one_query():
    server = Postgres()  # for its programs and its user
    with tempfile.TemporaryDirectory(prefix="nvtxt-page-") as folder:
        os.chmod(folder, 0o777)
        programs = os.path.dirname(os.path.dirname(os.path.abspath(program("ship", "nvtxt-ship"))))
        script = "\n".join(commands()).replace("$PWD/", programs + "/")
        script = script.replace("$(pg_config --bindir)", server.bin).replace("$(mktemp -d)", folder)
        for name in ("doc/examples/", "ship/queries/"):
            script = script.replace(name, os.path.abspath(TOP) + "/" + name)
        with open(folder + "/more", "w", encoding="utf-8") as file:
            file.write('TimeBase = Manual\n@Marker, Time, Message\nMarker, 5, "later"\n')
        with open(folder + "/all", "w", encoding="utf-8") as file:
            file.write("set -eu\ntrap 'pg_ctl -D \"$F/pg\" -m immediate stop >&2' EXIT\n" + script + ENDED + asking_and_back())
        for path in (folder + "/more", folder + "/all"):
            os.chmod(path, 0o666)
        if subprocess.run([*server.as_server, "test", "-r", os.path.join(programs, "ship", "nvtxt-ship")],
                          check=False).returncode != 0:
            raise Skip("the server's user may not read the programs")
        with open(folder + "/out", "wb") as out:
            done = subprocess.run([*server.as_server, "bash", folder + "/all"], cwd=folder, stdout=out,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                                  timeout=DEADLINE, env={**os.environ, "HOME": folder, "LC_ALL": "C"})
        with open(folder + "/out", encoding="utf-8", errors="replace") as file:
            said = file.read()
        equal(done.returncode, 0, said)
        equal([line.split("|")[0].strip() for line in said.splitlines() if '{"rack"' in line], ["a", "b"],
              said)
        assert "a|3\nb|4\n" in said, said
        back = said.partition("a|3\nb|4\n")[2]
        for text in (" host ", "Section: Ranges", ":PUT /") if REPORT else (" host ",):
            assert text in back, back


def test_the_page_names_every_query():
    equal(sorted(set(re.findall(r"`(\w+)\.sql`", page()))), names())


run(globals())

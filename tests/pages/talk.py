# SPDX-License-Identifier: Apache-2.0
"""talk.py FILE SOCKET: holds the session that FILE shows: sends the lines after ">", and compares
what comes with those after "<", in which an ellipsis is anything."""
import re
import socket
import sys
import uuid

SHOWN_ID = "0b5d…"


def main(path, address):
    session = str(uuid.uuid4())
    with open(path, encoding="utf-8") as file, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(address)
        replies = client.makefile(encoding="utf-8")
        for line in file.read().splitlines():
            mark, text = line[:2], line[2:].replace(SHOWN_ID, session)
            if mark == "> ":
                client.sendall(text.encode() + b"\n")
            elif mark == "< ":
                reply = replies.readline().rstrip("\n")
                wanted = re.escape(text).replace("…", ".*").replace('"source":7', r'"source":\d+')
                if not re.fullmatch(wanted, reply):
                    sys.exit("shown: %s\ncame:  %s" % (text, reply))


main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""What stands between nvtxt-ship and the server, and loses what it should carry."""
import contextlib
import socket
import threading
import time


class Proxy:
    """Passes bytes to the server; cuts the connection when the answer to the COMMIT of a round is
    on its way (`lose`), or after so many pieces of the client (`cut`), or when the client says a
    word (`word`), or stops to pass anything (`silent`), or closes what is new (`refuses`)."""

    def __init__(self, port):
        self.port, self.lose, self.silent, self.lost = port, False, False, 0
        self.refuses, self.refused = False, 0
        self.cut = None
        self.word, self.said = None, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                if self.refuses:
                    self.refused += 1
                    client.close()
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", self.port))
                except OSError:  # the server is away
                    client.close()
                    continue
                state = {"round": False, "commit": False}
                for source, target, up in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self.carry, args=(source, target, up, state),
                                     daemon=True).start()

    def carry(self, source, target, up, state):
        before = b""  # the end of the last piece: what is looked for may come in two

        def comes(word):
            return up and word in before[len(before) - len(word) + 1:] + data
        with contextlib.suppress(OSError):
            while True:
                data = source.recv(65536)
                while self.silent:
                    time.sleep(0.05)
                if comes(b".cursors SET segment = "):
                    state["round"] = True
                if comes(b"Q\0\0\0\x0bCOMMIT\0"):
                    state["commit"], state["round"] = state["round"], False
                if not data:
                    break
                if not up and state["commit"] and self.lose:
                    self.lose = False  # first: who sees it lost may ask for the next one at once
                    self.lost += 1
                    break
                if self.word and comes(self.word):
                    self.said += 1
                    break
                if up and self.cut is not None:
                    self.cut -= 1
                    if self.cut < 0:
                        break
                if not up:
                    state["commit"] = False
                target.sendall(data)
                before = (before + data)[-100:]
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
                end.close()

    def close(self):
        self.listener.close()

# SPDX-License-Identifier: Apache-2.0
"""What a folder could hold after a loss of power, by what a recorder saw of the calls before it.

The model is that of a journaling file system that orders as little as it may:
- what a file had at its last sync is there;
- of what came later, the changes of its size and the names in a folder were kept up to any point of
  their order, and of the bytes each block of 512 as it was at some moment, since the block may have
  been written at any; one that the file has by its size and not by its bytes is zeros;
- a block that the file had before can be written over in place also when a later change of its size
  was not kept; behind a cut that is only the page that the cut went through."""
SECTOR = 512
PAGE = 4096


def put(content, at, data):
    if len(content) < at + len(data):
        content.extend(bytes(at + len(data) - len(content)))
    content[at:at + len(data)] = data


def cut(content, size):
    del content[size:]
    content.extend(bytes(size - len(content)))


class File:
    def __init__(self):
        self.synced = bytearray()
        self.cached = bytearray()
        self.pending = []  # (what, at, data): after the last sync

    def write(self, at, data):
        self.pending.append(("write", at, data))
        put(self.cached, at, data)

    def truncate(self, size):
        self.pending.append(("truncate", size, b""))
        cut(self.cached, size)

    def sync(self):
        self.synced = bytearray(self.cached)
        self.pending = []

    def kept(self, rng):
        """One of the contents that the disk may have: sizes up to one step, and each sector as it
        was in memory behind another one."""
        count = len(self.pending)
        sizes = rng.randint(0, count)
        when = rng.choice((lambda: 0, lambda: sizes, lambda: rng.randint(0, count)))
        steps = {}  # sector: calls that it has seen
        content = bytearray(self.synced)
        most = None  # behind the kept sizes: bytes in front of which blocks are still the same
        for step, (what, at, data) in enumerate(self.pending):
            if step < sizes:
                cut(content, at if what == "truncate" else max(len(content), at + len(data)))
            elif most is None:
                most = len(content)
            if what == "truncate" and step >= sizes and at < most:  # zeros up to the page's end
                most = min(len(content), (at // PAGE + 1) * PAGE)
                data = bytes(most - at)
            elif what == "truncate":
                data = b""
            for begin, end in sectors(at, len(data)):
                seen = steps.setdefault(begin // SECTOR, when())
                if step < seen and (step < sizes or end <= most):
                    put(content, begin, data[begin - at:end - at])
        return bytes(content)


def sectors(at, size):
    """The pieces of a write that reach the disk as one."""
    begin = at
    while begin < at + size:
        end = min(at + size, (begin // SECTOR + 1) * SECTOR)
        yield begin, end
        begin = end


class Disk:
    """One folder."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}  # by number, while a name or its removal may be kept
        self.names = {}  # synced: name to number
        self.pending = []  # (name, number or None), in their order

    def take(self, call):
        """A call of io_log that has happened."""
        if call.what == "sync" and call.path == self.folder:
            for change in self.pending:
                self.apply(self.names, change)
            self.pending = []
        if not call.path.startswith(self.folder + "/"):
            return
        name = call.path[len(self.folder) + 1:]
        if call.what == "create":
            number = (call.file, object())  # the system gives numbers anew
            self.files[number] = File()
            self.pending.append((name, number))
        elif call.what == "rename":
            self.pending.append(((name, call.source[len(self.folder) + 1:]),
                                 self.number(call.source[len(self.folder) + 1:])))
        elif call.what == "unlink":
            self.pending.append((name, None))
        else:
            file = self.open_file(call.file)
            if file and call.what == "write":
                assert len(call.data) == call.size, "all bytes are recorded"
                file.write(call.at, call.data)
            elif file and call.what == "truncate":
                file.truncate(call.at)
            elif file and call.what == "sync":
                file.sync()

    def open_file(self, number):
        found = [key for key in self.files if key[0] == number]
        return self.files[found[-1]] if found else None

    @staticmethod
    def apply(names, change):
        name, number = change
        if isinstance(name, tuple):
            names[name[0]] = number
            names.pop(name[1], None)
        elif number is None:
            names.pop(name, None)
        else:
            names[name] = number

    def number(self, name):
        names = dict(self.names)
        for change in self.pending:
            self.apply(names, change)
        return names[name]

    def kept(self, rng):
        """One of the folders that the disk may have: names to bytes."""
        names = dict(self.names)
        for change in self.pending[:rng.randint(0, len(self.pending))]:
            self.apply(names, change)
        return {name: self.files[number].kept(rng) for name, number in names.items()}

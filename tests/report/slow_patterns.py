# SPDX-License-Identifier: Apache-2.0
"""Patterns of lines of logs, computed slowly: nvtxt-report(1), "LOGS", word by word with expressions."""
import re

LONGEST = 1000  # bytes of a line that are looked at
WORD = rb"[0-9A-Za-z]"
END = rb"(?![0-9A-Za-z])"
MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
ZONE = rb"(?:Z| ?[+-](?:\d{4}|\d\d:\d\d)" + END + rb")"
CLOCK = rb"(?:\d\d|\d):\d\d:\d\d(?:[.,]\d+|(?![.,]\d))" + ZONE + rb"?" + END
DAY = rb"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?"
OCTET = rb"(?:25[0-5]|2[0-4]\d|[01]?\d?\d)"
IPV4 = OCTET + rb"(?:\." + OCTET + rb"){3}" + END + rb"(?!\.\d)"


def compiled(*parts):
    return re.compile(b"".join(parts))


MAC = compiled(rb"[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2}){4}", END, rb"(?!\1[0-9A-Za-z])")
THINGS = [
    compiled(rb"\d{4}([-/])\d\d\1\d\d(?:[T ]", CLOCK, rb")?", END),
    compiled(CLOCK),
    compiled(DAY, MONTH, rb" {1,2}\d{1,2} ", CLOCK, rb"(?: \d{4}", END, rb")?"),
    compiled(DAY, rb"\d{1,2}([/ -])", MONTH, rb"\1\d{4}(?:[ :]", CLOCK, rb")?", END),
    compiled(rb"0[xX][0-9a-fA-F]+", END),
    compiled(IPV4),
    compiled(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", END),
]
NUMBER = re.compile(rb"\d+(?:[.,]\d+)*(?:[eE][+-]?\d+(?![0-9A-Za-z]))?")
HEX = re.compile(rb"[0-9a-fA-F]{7,}\Z")
SAYING = rb"(?:msg|message|event|level|severity|error|err|reason)"
SAID = re.compile(rb"(?:(?<![0-9A-Za-z_])" + SAYING + rb"=|\"" + SAYING + rb"\" *: *)\Z", re.I)
BEFORE_KEY = re.compile(rb"[{,] *\Z")
AFTER_KEY = re.compile(rb" *:(?!:)")
QUOTED = {b'"': re.compile(rb'((?:[^"\\]|\\.)*)"', re.S),
          b"'": re.compile(rb"((?:[^']|'(?=[#0-9A-Za-z]))*)'(?![#0-9A-Za-z])", re.S),
          b"`": re.compile(rb"([^'`]*)['`]", re.S)}
CURLED = [re.compile("‘".encode() + b"(.*?)" + "’".encode(), re.S),
          re.compile("“".encode() + b"(.*?)" + "”".encode(), re.S)]


def ipv6(text, at):
    """How long the address at this place is; 0 if there is none."""
    longest = (re.compile(rb"[0-9a-fA-F:]*:" + IPV4).match(text, at) or
               re.compile(rb"[0-9a-fA-F:]*").match(text, at)).group()
    while longest.endswith(b":") and not longest.endswith(b"::"):
        longest = longest[:-1]
    after = text[at + len(longest):at + len(longest) + 2]
    if re.match(rb"[0-9A-Za-z]|:[:0-9A-Za-z]", after) or not re.search(rb"\d", longest):
        return 0
    tail = re.search(rb"(?<=:)" + IPV4 + rb"\Z", longest)
    plain = longest[:tail.start()] + b"0:0" if tail else longest
    left, gap, right = plain.partition(b"::")
    groups = [group for part in (left, right) if part for group in part.split(b":")]
    if any(not re.fullmatch(rb"[0-9a-fA-F]{1,4}", group) for group in groups):
        return 0
    return len(longest) if (0 < len(groups) < 8 if gap else len(groups) == 8) else 0


def thing(text, at):
    """Addresses first: 52:54:00:12:34:56 begins as a clock does."""
    found = MAC.match(text, at)
    if found:
        return len(found.group())
    size = ipv6(text, at) if re.match(rb"[0-9a-fA-F]", text[at:at + 1]) else 0
    found = next(filter(None, (pattern.match(text, at) for pattern in THINGS)), None)
    return size or (len(found.group()) if found else 0)


def word_at(text, at):
    return re.compile(WORD + b"*").match(text, at).group()


def is_id(word):
    return len(re.findall(rb"\d+", word)) > 1 or \
        bool(HEX.match(word) and re.search(rb"\d", word) and re.search(rb"\D", word))


def pattern_of(line):
    """The pattern of a text and what is masked in it."""
    text = line.encode() if isinstance(line, str) else line
    cut = text.decode("utf-8", "surrogateescape")
    while len(cut.encode("utf-8", "surrogateescape")) > LONGEST:
        cut = cut[:-1]
    whole, text = len(text), cut.encode("utf-8", "surrogateescape")
    out, values, at, said = [], [], 0, -1

    def mask(to):
        values.append(text[at:to])
        out.append(b"#")
        return to

    def copy(to):
        out.append(text[at:to])
        return to

    def numbers(to):  # the rest of a word
        nonlocal at
        at = to
        while re.match(WORD, text[at:at + 1]):
            found = NUMBER.match(text, at)
            at = mask(found.end()) if found else copy(at + 1)
        return at

    while at < len(text):
        one, before = text[at:at + 1], text[at - 1:at] if at else b""
        if re.match(WORD, one):
            size, word = thing(text, at), word_at(text, at)
            at = mask(at + size) if size else mask(at + len(word)) if is_id(word) else numbers(at)
            continue
        if one in QUOTED and at != said and not (one == b"'" and re.match(rb"[#0-9A-Za-z]", before)):
            found = QUOTED[one].match(text, at + 1)
            if found:
                if one == b'"' and BEFORE_KEY.search(text[:at]) and AFTER_KEY.match(text, found.end()):
                    at = copy(found.end())
                elif one == b'"' and SAID.search(text[:at]):
                    said = found.end() - 1
                    at = copy(at + 1)
                else:
                    at = copy(at + 1)
                    at = mask(found.end() - 1)
                    at = copy(found.end())
                continue
        found = CURLED[0].match(text, at) or CURLED[1].match(text, at)
        if found:
            at = copy(found.start(1))
            at = mask(found.end(1))
            at = copy(found.end())
        elif one in (b"-", b"+") and (not before or before in b" \t=([{,:") and \
                re.match(rb"\d", text[at + 1:at + 2]) and not thing(text, at + 1) and \
                not is_id(word_at(text, at + 1)):
            at = numbers(mask(NUMBER.match(text, at + 1).end()))
        elif one == b":" and not re.match(rb"[:0-9A-Za-z]", before) and ipv6(text, at):
            at = mask(at + ipv6(text, at))
        else:
            at = copy(at + 1)
    return (b"".join(out) + ("…".encode() if len(text) < whole else b"")).decode("utf-8", "surrogateescape"), \
        [value.decode("utf-8", "surrogateescape") for value in values]


PIECES = ["request", "took", "ms", "GET", "k8s", "eth0", "x86_64", "1h30m", "don't", "it's", "std::foo", "add::bad",
          "0x1fG", "0xdeadBEEF", "1a2b3c4", "deadbee", "deadbee1", "1.5", "-2", "+7", "1e9", "1.5e-7", "2e", "1,234,567.5",
          "1,2,3", "12:30", "12:30:45", "1:02:03.5", "2026-11-24", "2026-11-24T01:02:03Z", "2026/11/24 01:02:03,123",
          "2026-11-24 01:02:03.5 +0100", "2026-11-24Tx", "Nov 24 01:02:03", "Nov  4 01:02:03", "Tue Nov 24 01:02:03 2026",
          "Tue, 24 Nov 2026 01:02:03 GMT", "24/Nov/2026:01:02:03 +0000", "24-Nov-2026", "Mon", "Mon, x", "March 4",
          "10.0.0.1", "256.1.1.1", "10.0.0.1.5", "10.0.0.1:80", "1.2.3", "v1.2.3-rc4", "::1", "fe80::1", "fe80::1:", "::",
          "a::b", "1::2::3", "2001:db8:0:0:0:0:0:1", "::ffff:10.0.0.1", "10:20:30:40:50:60",
          "52:54:00:1a:2b:3c", "10:20:30::1", "1:02:03:4:5:6:7:8", "12:30:45:x",
          "01-23-45-67-89-ab",
          "01:23:45:67:89:ab:cd", "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400",
          '"quoted"', '"a \\" b"', '""', "'x y'", "''", "`z'", "`w`", "‘curl’", "“curl 2”", "‘open", '"open', "'open", "`open",
          '{"msg":"job 5 done","n":12}', '{ "a b" : "x", "level" : "e" }', 'msg="it took 3 s" id="9"', "level=info",
          'Message="a \\"b\\" 4"', 'open "/tmp/x1": no', "ü12", "é", "é\u00a07", "#", "##", "\\x00", "a_1_b2", "_7", "--5", "x=-5",
          "(-5)", "5-3", "-10.0.0.1", "-1a2b3c4d", "-12ms", "5.25ms3", "10%", "$5", "1.", ".5", "1..2", "1.5.", "7e+", "user@h1",
          "/var/log/x.1", "[12]", "<3>", "T", "Z", "e5", "5e", "0x", "0", "00", "::g", "f::", "f::1", "a:1:b", "1:2:3:4:5:6:7:8"]

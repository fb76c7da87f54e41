# SPDX-License-Identifier: Apache-2.0
"""What stands in a page: its blocks in order, and the commands in them with what the page shows.

A page is README.md, a page of doc/, or the EXAMPLES of a manual page. A block is what stands in a
fence or is indented (Markdown), a display or one line of it (mdoc). A block with lines that begin
with "$ " is a session: commands, and below each what it prints. A command in the text or in a table
of a Markdown page, between back-ticks, is a session, too, if it begins with a program's name and has
three words: two only name a part of the program.
"""
import os
import re
import subprocess

TOP = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                   "..", "..")
PROMPT = "$ "
FENCE = re.compile(r"( *)```(\w*)$")
IN_TEXT = re.compile(r"`((?:nvtxt|scripts/|systemctl|usermod|adduser|sqlite3|grafana-cli|pg_ctl|kill|"
                     r"psql|npm)[^`\s]*\s[^`\s]+\s[^`]+)`")


class Block:
    """`line`: where its text begins in the page; `language`: what a fence says."""

    def __init__(self, line, text, language=""):
        self.line, self.text, self.language = line, text, language
        self.is_session = bool(re.search(r"^\$ ", text, re.M))


class Command:
    """`shown`: what the page shows below it, or ""."""

    def __init__(self, line, text):
        self.line, self.text, self.shown = line, text, ""


def names():
    """All pages that may have commands."""
    found = ["README.md"]
    found += sorted("doc/" + name for name in os.listdir(os.path.join(TOP, "doc")) if name.endswith(".md"))
    found += sorted("man/" + name for name in os.listdir(os.path.join(TOP, "man"))
                    if re.search(r"\.[1-8](\.in)?$", name))
    return found


def blocks(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        lines = file.read().splitlines()
    found = from_markdown(lines) if name.endswith(".md") else from_mdoc(lines)
    return [part for block in found for part in parts(block)]


def parts(block):
    """What stands before a session is a block of its own."""
    before, prompt, session = block.text.partition("\n\n" + PROMPT)
    if not prompt or Block(0, before).is_session:
        return [block]
    return [Block(block.line, before, block.language),
            Block(block.line + before.count("\n") + 2, PROMPT + session, block.language)]


# ---- Markdown -----------------------------------------------------------------------------------

def from_markdown(lines):
    found, at = [], 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = lines.index(fence[1] + "```", at + 1)
            text = "\n".join(line[len(fence[1]):] for line in lines[at + 1:end])
            found.append(Block(at + 2, text, fence[2]))
            at = end + 1
            continue
        indented, end = is_indented(lines, at), at + 1
        while end < len(lines) and goes_on(lines, end, indented):
            end += 1
        text = "\n".join(line[4 * indented:] for line in lines[at:end])
        found += [Block(at + 1, text.rstrip())] if indented else in_text(text, at + 1)
        at = end
    return found


def goes_on(lines, at, indented):
    """Whether a line belongs to the block, or to the text, before it."""
    if indented:
        return lines[at].startswith("    ") or not lines[at]
    return not is_indented(lines, at) and not FENCE.match(lines[at])


def in_text(text, line):
    for command in IN_TEXT.finditer(text):
        words = " ".join(command[1].replace("\\|", "|").split())
        yield Block(line + text[:command.start()].count("\n"), PROMPT + words)


def is_indented(lines, at):
    """Four blanks after an empty line; the second paragraph of an item of a list has fewer."""
    return lines[at].startswith("    ") and (at == 0 or not lines[at - 1])


# ---- mdoc ---------------------------------------------------------------------------------------

def from_mdoc(lines):
    """The displays of its sections EXAMPLES and EXAMPLE."""
    found, at, inside = [], 0, False
    while at < len(lines):
        line = lines[at]
        if line.startswith(".Sh "):
            inside = line in (".Sh EXAMPLES", ".Sh EXAMPLE")
        elif inside and line.startswith(".Bd -literal"):
            end = lines.index(".Ed", at)
            found.append(Block(at + 2, "\n".join(plain(text) for text in lines[at + 1:end])))
            at = end
        elif inside and line.startswith(".Dl "):
            found.append(Block(at + 1, plain(line[len(".Dl "):])))
        at += 1
    return found


def plain(text):
    for mark, means in (("\\e", "\\"), ("\\-", "-"), ("\\~", " "), ("\\&", ""), ("\\(dq", '"'), ("\\(aq", "'")):
        text = text.replace(mark, means)
    if re.match(r"\.[A-Z][a-z] ", text):
        raise ValueError("a macro in a literal display: " + text)
    return text


# ---- Commands -----------------------------------------------------------------------------------

def is_whole(text):
    """Whether the shell would not read on: no open quote, no command that is to come."""
    if text.endswith(("\\", "|", "&&")):
        return False
    return subprocess.run(["bash", "-n"], input=text + "\n", text=True, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def commands(block):
    """Those of a session, or of a block where each line is the shell's."""
    found = []
    for number, line in enumerate(block.text.split("\n"), block.line):
        if found and not is_whole(found[-1].text):
            found[-1].text += "\n" + line
        elif not block.is_session:
            if line and not line.startswith("#"):
                found.append(Command(number, line))
        elif line.startswith(PROMPT):
            found.append(Command(number, line[len(PROMPT):]))
        else:
            found[-1].shown += line + "\n"
    return found

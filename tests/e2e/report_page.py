# SPDX-License-Identifier: Apache-2.0
"""A page of nvtxt-report html as a tree of elements, and the same as the other commands say it."""
import html.parser
import json

from lib import equal
from report import report

VOID = {"meta", "link", "input", "br", "hr", "img", "col"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.parts = tag, dict(attributes), parent, []

    def __getitem__(self, name):
        return self.attributes.get(name)

    def walk(self):
        yield self
        for part in self.parts:
            if isinstance(part, Element):
                yield from part.walk()

    def text(self):
        return "".join(part if isinstance(part, str) else part.text() for part in self.parts)

    def all(self, tag, **wanted):
        """The elements of that tag that have these attributes; True: with any value."""
        names = {key.replace("_", "-"): value for key, value in wanted.items()}
        return [at for at in self.walk() if at.tag == tag and all(
            at[name] is not None and value in (True, at[name]) for name, value in names.items())]

    def one(self, name):
        found = [at for at in self.walk() if at["id"] == name]
        equal(len(found), 1, "elements with the id " + name)
        return found[0]


class Parser(html.parser.HTMLParser):
    """A tree of elements. Each end has its beginning, or the page is wrong."""

    def __init__(self, text):
        super().__init__()
        self.root = self.at = Element("", (), None)
        self.feed(text)
        self.close()
        equal(self.at is self.root, True, "an element is not closed: " + self.at.tag)

    def handle_starttag(self, tag, attrs):
        new = Element(tag, attrs, self.at)
        equal(len(new.attributes), len(attrs), "an attribute stands twice")
        self.at.parts.append(new)
        if tag not in VOID:
            self.at = new

    def handle_startendtag(self, tag, attrs):
        self.at.parts.append(Element(tag, attrs, self.at))

    def handle_endtag(self, tag):
        equal(tag, self.at.tag)
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.parts.append(data)

    def handle_comment(self, data):
        raise AssertionError("a comment: " + data[:80])


def page(*args, status=0):
    """The page of `html -o - ARGS` as text and as a tree."""
    got = report("html", "-o", "-", *args)
    equal(got[0], status, got[2])
    return got[1], Parser(got[1]).root


def answer(command, *args, status=0):
    got = report(command, "--format", "json", *args)
    equal(got[0], status, got[2])
    return json.loads(got[1])

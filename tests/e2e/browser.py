# SPDX-License-Identifier: Apache-2.0
"""Chromium without a network, for tests, benchmarks and pictures of pages. Needs Debian's chromium,
chromium-driver and python3-selenium; need() starts the script again with Debian's Python if only
that one has selenium, and ends it with 77 if something is missing."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

DEBIAN_PYTHON = "/usr/bin/python3"  # has Debian's selenium, whichever python3 comes first in PATH
DEADLINE = 120
HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR")

try:
    from selenium import webdriver
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = Keys = None

# What the keyboard says of keys that write no character of their own: name, number, and the text of Enter.
NAMED_KEYS = {"ENTER": ("Enter", 13, "\r"), "TAB": ("Tab", 9), "ESCAPE": ("Escape", 27), "END": ("End", 35), "HOME": ("Home", 36),
              "ARROW_LEFT": ("ArrowLeft", 37), "ARROW_UP": ("ArrowUp", 38), "ARROW_RIGHT": ("ArrowRight", 39), "ARROW_DOWN": ("ArrowDown", 40)}
SHIFT = 8

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def missing():
    """What there is not, as a text; empty if a Browser can be made."""
    if not webdriver:
        return "no selenium"
    return "" if CHROMIUM and DRIVER else "no chromium or no chromedriver"


def need():
    python = os.path.realpath(DEBIAN_PYTHON)
    again = not webdriver and os.path.realpath(sys.executable) != python and "NVTXT_PAGE_PYTHON" not in os.environ
    if again and subprocess.run([python, "-c", "import selenium"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.execve(python, [python, *sys.argv], {**os.environ, "NVTXT_PAGE_PYTHON": "1"})
    if missing():
        print(missing())
        sys.exit(77)


class Browser:
    """One window. What it writes goes into a folder of its own, which is gone after it."""

    def __init__(self, *arguments, size=(1280, 900)):
        self.home = tempfile.mkdtemp(prefix="nvtxt-browser-")
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                         "--window-size=%d,%d" % size, "--host-resolver-rules=MAP * ~NOTFOUND", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.chrome.service.Service(DRIVER, env={**os.environ, **{name: self.home for name in HOMES}})
        try:
            self.driver = webdriver.Chrome(service=service, options=options)
        except Exception:
            shutil.rmtree(self.home, ignore_errors=True)
            raise
        self.driver.set_script_timeout(DEADLINE)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.quit()

    def quit(self):
        self.driver.quit()
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def renew(self):
        """Another tab in place of the one there was, as if the browser had just been started."""
        old = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        new = self.driver.current_window_handle
        self.driver.switch_to.window(old)
        self.driver.close()
        self.driver.switch_to.window(new)

    def ask(self, command, **parameters):
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, parameters)

    def press(self, *keys):
        """Keys where the focus is, as from the keyboard; send_keys, which first looks at the element, takes five times as long."""
        known = {getattr(Keys, name): (*how, "")[:3] for name, how in NAMED_KEYS.items()}
        for key in keys:
            name, number, text = known.get(key) or (key, ord(key.upper()), key)
            event = {"key": name, "windowsVirtualKeyCode": number, "modifiers": SHIFT if key.isupper() or key in "?+" else 0}
            self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **({"text": text} if text else {}), **event)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    def load(self, path, fragment=""):
        """Opens a file, and forgets what was said before."""
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get("file://" + os.path.abspath(path) + fragment)

    def open(self, path, fragment=""):
        """Opens a page and waits until it is drawn."""
        self.load(path, fragment)
        self.wait("return Boolean(window.nvtxtReport && nvtxtReport.ready)")

    def wait(self, script):
        end = time.monotonic() + DEADLINE
        while not self.run(script):
            if time.monotonic() > end:
                raise AssertionError("waited in vain for: " + script)
            time.sleep(0.02)

    def said(self):
        """Messages in the console, and addresses of requests but for the file itself."""
        messages = [entry["message"] for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                messages.append(message["params"]["request"]["url"])
        return [one for one in messages if not one.startswith(("file:", "data:", "about:"))]

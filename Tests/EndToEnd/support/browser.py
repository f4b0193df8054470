"""A headless Chromium, driven over its DevTools protocol through a pair of pipes: no driver, no port, no package."""

import base64
import contextlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

SECONDS = 30.0

FLAGS = [
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
    "--disable-sync", "--metrics-recording-only", "--no-default-browser-check", "--hide-scrollbars", "--mute-audio",
    "--disable-features=Translate,OptimizationHints,MediaRouter", "--force-color-profile=srgb"]


def find():
    """Where Chromium is, or None."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """A Chromium with a profile of its own, gone with it."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="islet-chromium-", ignore_cleanup_errors=True)
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        # The protocol wants descriptors 3 and 4, whatever numbers the pipes have here.
        command = f"exec \"$0\" \"$@\" 3<&{to_read} 4>&{to_write}"
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", command, find(), *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(to_read, to_write), start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._numbers = itertools.count(1)
        self._answers = {}
        self._pages = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def page(self, width=1280, height=900, theme="light", still=False, script=None):
        """A new page that remembers nothing from another. `script` runs before the page's own."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, context)
        self._pages[session] = page
        page.prepare(width, height, theme, still)
        if script:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        return page

    def call(self, method, session=None, seconds=SECONDS, **parameters):
        number = next(self._numbers)
        answer = queue.SimpleQueue()
        self._answers[number] = answer
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        with self._lock:
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self._to, data):]
        try:
            got = answer.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"Chromium has not answered {method} within {seconds} s") from None
        finally:
            self._answers.pop(number, None)
        if "error" in got:
            raise RuntimeError(f"{method}: {got['error']}")
        return got["result"]

    def _read(self):
        rest = b""
        while chunk := os.read(self._from, 1 << 16):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if waiting := self._answers.get(message.get("id")):
                    waiting.put(message)
                elif page := self._pages.get(message.get("sessionId")):
                    page.heard(message["method"], message["params"])

    def close(self):
        with contextlib.suppress(Exception):
            self.call("Browser.close", seconds=5)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._to)
        self.profile.cleanup()

# Lets the events of one click through to the element that was meant, and to no other; `end` tells whether another was hit.
GUARD = """(() => {
    const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
    let missed = false;
    const guard = event => {
        const element = document.querySelector(SELECTOR);
        // What the click itself has removed was hit before.
        if (element === null || element.contains(event.target) || event.target.contains(element)) return;
        missed = true;
        event.stopImmediatePropagation();
        event.preventDefault();
    };
    for (const kind of kinds) window.addEventListener(kind, guard, true);
    window.guard = {end() {
        for (const kind of kinds) window.removeEventListener(kind, guard, true);
        delete window.guard;
        return missed;
    }};
})()"""


class Page:
    """One page. `errors` holds what went wrong in it, `requests` what it asked for."""

    def __init__(self, browser, session, context):
        self.browser, self.session, self.context = browser, session, context
        self.errors, self.requests, self.sockets = [], [], []

    def call(self, method, seconds=SECONDS, **parameters):
        return self.browser.call(method, self.session, seconds, **parameters)

    def prepare(self, width, height, theme, still):
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.media(theme, still)

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def media(self, theme="light", still=False):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])

    def heard(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert", "warning"):
            self.errors.append(" ".join(str(each.get("value", each.get("description"))) for each in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'", f"{url} to be loaded")
        return self

    def js(self, expression, seconds=SECONDS):
        """The value of an expression in the page; promises are waited for."""
        got = self.call("Runtime.evaluate", seconds, expression=expression, awaitPromise=True, returnByValue=True,
                        userGesture=True)
        if "exceptionDetails" in got:
            details = got["exceptionDetails"]
            raise AssertionError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return got["result"].get("value")

    def until(self, expression, what=None, seconds=SECONDS):
        """Waits until the expression is true in the page, looking with each frame, and gives its value."""
        deadline = time.monotonic() + seconds
        while True:
            left = max(deadline - time.monotonic(), 0)
            try:
                patience = str(int(min(left, 5) * 1000))
                value = self.js(WAIT.replace("EXPRESSION", expression).replace("MILLISECONDS", patience), left + 5)
            except RuntimeError:
                value = None  # the page was replaced while it was asked
            if value:
                return value
            assert time.monotonic() < deadline, (
                f"waited {seconds} s for {what or expression}; errors: {self.errors}; "
                f"text:\n{self.text('body')[:3000]}")

    def text(self, selector):
        """What a person can read there."""
        return self.js(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def texts(self, selector):
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.innerText)")

    def click(self, selector):
        """A real click in the middle of the element, as a person does it. Where the page moves under the pointer, what
        was hit instead hears nothing of it, and it is clicked again: a person would have seen it move."""
        deadline = time.monotonic() + SECONDS
        while True:
            place = self.until(f"""(() => {{
                const element = document.querySelector({json.dumps(selector)});
                if (element === null || element.disabled) return null;
                element.scrollIntoView({{block: "nearest", inline: "nearest", behavior: "instant"}});
                const box = element.getBoundingClientRect();
                if (box.width === 0) return null;
                const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                const hit = document.elementFromPoint(x, y);
                return hit !== null && (element.contains(hit) || hit.contains(element)) ? {{x, y}} : null;
            }})()""", f"{selector} to be there to be clicked")
            self.js(GUARD.replace("SELECTOR", json.dumps(selector)))
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
            try:
                if not self.js("window.guard ? window.guard.end() : false"):
                    return
            except RuntimeError:
                return  # the page was replaced by the click
            assert time.monotonic() < deadline, f"clicked beside {selector} each time"

    def press(self, key, text=None):
        """A key, by its name: `ArrowDown`, `Enter`, `/`."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39,
                 "Home": 36, "End": 35}
        text = text or (key if len(key) == 1 else "\r" if key == "Enter" else None)
        more = {"windowsVirtualKeyCode": codes.get(key, 0), "key": key, **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        """Text into what has the focus."""
        self.call("Input.insertText", text=text)

    def screenshot(self, path, full=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        with contextlib.suppress(Exception):
            self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)


WAIT = """new Promise((resolve) => {
    const deadline = performance.now() + MILLISECONDS;
    const look = () => {
        let value = null;
        try { value = (EXPRESSION); } catch { value = null; }
        if (value || performance.now() >= deadline) resolve(value);
        else setTimeout(look, 15);
    };
    look();
})"""

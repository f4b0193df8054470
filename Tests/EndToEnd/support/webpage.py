"""The board of a running service, open in a browser."""

import json

from .service import FREE_PORTS, arguments


def board_words(*flags, http="127.0.0.1:0", **options):
    """The words of `islet serve` with a board on a free port and a clock that moves when told."""
    named = {f"--{name}": value for name, value in options.items()}
    return [*arguments({**FREE_PORTS, "--clock": "manual", **named, "--http": http}), *flags]


class BoardPage:
    """A page with the board in it. What goes wrong in a page fails its test at the end, but for what is `expected`."""

    def __init__(self, browser, service, view="activities", **options):
        self.service, self.origin = service, service.endpoints["http"].rstrip("/")
        self.page = browser.page(**options)
        self.expected = ()
        self.page.open(f"{self.origin}/#{view}")
        self.live()

    def __getattr__(self, name):
        return getattr(self.page, name)

    def live(self):
        """Waits until the page has its stream and all lists."""
        self.until("document.querySelector('#connection').dataset.state === 'live' "
                   "&& !document.querySelector('#showing').innerText.includes('reading')", "a live board")

    def row(self, id, condition="true", what=None):
        """Waits for an activity's row; `condition` may use `row` and `text`. Gives what a person reads in it."""
        return self.until(f"""(() => {{
            const row = document.querySelector('.row[data-id="{id}"]');
            const text = row?.innerText.replace(/\\s+/g, " ") ?? "";
            return row !== null && ({condition}) ? text : null;
        }})()""", what or f"the row of {id} with {condition}")

    def gone(self, selector):
        self.until(f"document.querySelector({json.dumps(selector)}) === null", f"{selector} to go")

    def keys(self):
        """The keys of all rows, from the top."""
        return self.texts(".row .name b")

    def reads(self, selector, text):
        """Waits until a text stands there."""
        found = f"document.querySelector({json.dumps(selector)})?.innerText.replace(/\\s+/g, ' ')"
        return self.until(f"{found}.includes({json.dumps(text)})", f"{text!r} in {selector}")

    def fill(self, selector, text):
        """Empties a field and types into it."""
        self.click(selector)
        self.js(f"document.querySelector({json.dumps(selector)}).select()")
        if text:
            self.type(text)
        else:
            self.js("document.execCommand('delete')")

    def focused(self, selector):
        self.until(f"document.activeElement?.matches({json.dumps(selector)})", f"the focus on {selector}")

    def post(self, command):
        """Sends a command as the page does; gives the status and the answer."""
        return self.js(f"""fetch("api/commands", {{method: "POST", headers: {{"Content-Type": "application/json"}},
            body: {json.dumps(json.dumps(command))}}})
            .then(async (got) => ({{status: got.status, answer: await got.json()}}))""")

    def check(self):
        """Fails where the page had an error, or asked anyone but its own service."""
        errors = [error for error in self.page.errors if not any(part in error for part in self.expected)]
        assert errors == [], errors
        strange = [url for url in self.page.requests if not url.startswith((self.origin + "/", "about:", "data:"))]
        assert strange == [], strange

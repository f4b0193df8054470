"""The program of a real provider, for tests that kill it: what is true is in files that outlive it.

It provides toggles, and where its options say so counters: widgets that show how often they were tapped. It is run with
a folder, a name and its options. In the folder:
- `truth/<control>` is there while a control is on;
- `performed/<control or widget>` gets one line for each action that was performed;
- while `<name>-value`, `<name>-timeline`, `<name>-before` or `<name>-after` is there, a value, a timeline, an action
  before its effect, or an action after its effect and before its answer waits in the middle.
Its lines of standard output are `registered`, and `before <control or widget>` where it waits so."""

import json
import os
import pathlib
import random
import sys
import threading
import time

import islet

KIND, COUNTER = "com.example.torch", "com.example.counter"


class Holding:
    """`pause`: the longest that an action takes, in seconds, by chance."""

    def __init__(self, folder, name, pause):
        self.folder, self.name, self.pause = folder, name, pause

    def log(self, id, line):
        with open(self.folder / "performed" / id, "a") as log:
            # One write of a line is whole or not at all, also where the process is killed in it.
            os.write(log.fileno(), f"{os.getpid()} {line}\n".encode())

    def hold(self, what, asked):
        held = self.folder / f"{self.name}-{what}"
        if held.exists():
            say(f"{what} {asked.id}")
        while held.exists():
            time.sleep(0.005)


class Counter(Holding, islet.TimelineProvider):
    def timeline(self, widget):
        self.hold("timeline", widget)
        log = self.folder / "performed" / widget.id
        count = len(log.read_text().splitlines()) if log.exists() else 0
        return islet.Timeline([islet.TimelineEntry(widget.now, {"n": count})], "never")

    def perform(self, widget, action, parameters):
        self.hold("before", widget)
        self.log(widget.id, action)
        self.hold("after", widget)
        time.sleep(random.uniform(0, self.pause))


class Torch(Holding, islet.Toggle):
    def current_value(self, control):
        self.hold("value", control)
        return (self.folder / "truth" / control.id).exists()

    def set_value(self, control, value):
        self.hold("before", control)
        self.log(control.id, value)
        truth = self.folder / "truth" / control.id
        if value:
            truth.touch()
        else:
            truth.unlink(missing_ok=True)
        self.hold("after", control)
        time.sleep(random.uniform(0, self.pause))


def say(line):
    # One write, for many threads may say something at a time.
    os.write(1, f"{line}\n".encode())


def main():
    folder, name, options = pathlib.Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    provider = islet.Provider(capacity=options["capacity"], grace=0.2)
    provider.toggle(KIND, **options["declaration"])(Torch(folder, name, options["pause"]))
    if options["widget"] is not None:
        provider.widget(COUNTER, ["systemSmall"], **options["widget"])(Counter(folder, name, options["pause"]))

    def tell():
        provider.registered.wait()
        say("registered")

    threading.Thread(target=tell, daemon=True).start()
    provider.run()


if __name__ == "__main__":
    main()

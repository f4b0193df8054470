"""The program of a real provider, for tests that kill it: toggles whose truth is in files that outlive it.

It is run with a folder, a name and its options. In the folder:
- `truth/<control>` is there while a control is on;
- `performed/<control>` gets one line for each action that was performed;
- while `<name>-value`, `<name>-before` or `<name>-after` is there, a value, an action before its effect, or an action
  after its effect and before its answer waits in the middle.
Its lines of standard output are `registered`, and `before <control>` where it waits so."""

import json
import os
import pathlib
import random
import sys
import threading
import time

import islet

KIND = "com.example.torch"


class Torch(islet.Toggle):
    """`pause`: the longest that an action takes, in seconds, by chance."""

    def __init__(self, folder, name, pause):
        self.folder, self.name, self.pause = folder, name, pause

    def current_value(self, control):
        self.hold("value", control)
        return (self.folder / "truth" / control.id).exists()

    def set_value(self, control, value):
        self.hold("before", control)
        with open(self.folder / "performed" / control.id, "a") as log:
            # One write of a line is whole or not at all, also where the process is killed in it.
            os.write(log.fileno(), f"{os.getpid()} {value}\n".encode())
        truth = self.folder / "truth" / control.id
        if value:
            truth.touch()
        else:
            truth.unlink(missing_ok=True)
        self.hold("after", control)
        time.sleep(random.uniform(0, self.pause))

    def hold(self, what, control):
        held = self.folder / f"{self.name}-{what}"
        if held.exists():
            say(f"{what} {control.id}")
        while held.exists():
            time.sleep(0.005)


def say(line):
    # One write, for many threads may say something at a time.
    os.write(1, f"{line}\n".encode())


def main():
    folder, name, options = pathlib.Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    provider = islet.Provider(capacity=options["capacity"], grace=0.2)
    provider.toggle(KIND, **options["declaration"])(Torch(folder, name, options["pause"]))

    def tell():
        provider.registered.wait()
        say("registered")

    threading.Thread(target=tell, daemon=True).start()
    provider.run()


if __name__ == "__main__":
    main()

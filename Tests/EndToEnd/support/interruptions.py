"""Breaks code off as an exception of a signal's handler does, at one of the places where the interpreter lets one in."""

import dis
import sys

PLACES = ("RESUME", "CALL", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
"""How the instructions begin after which the interpreter looks for signals: at no other place may one break in."""


class Interruption(Exception):
    """What the handler raises."""


class Interrupting:
    """While it is entered, raises an `Interruption` in the code of a module at its `number`-th such place.

    `within`: the names of the functions that count; None: all. `handler`: what is done there instead of raising."""

    def __init__(self, module, number, within=None, handler=None):
        self.file, self.left, self.within, self.handler = module.__file__, number, within, handler
        self.where = None
        """The function and line where it broke in, once it did."""
        self._codes = {}

    def __enter__(self):
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _enter(self, frame, event, arg):
        code = frame.f_code
        if code.co_filename != self.file or (self.within and code.co_name not in self.within):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if code not in self._codes:
            self._codes[code] = code.co_code  # made at each look
        instructions = self._codes[code]
        before = ""

        def step(frame, event, arg):
            nonlocal before
            if event == "opcode":
                if before.startswith(PLACES):
                    self.left -= 1
                    if self.left == 0:
                        self.where = code.co_name, frame.f_lineno
                        if self.handler is None:
                            raise Interruption
                        self.handler()
                before = dis.opname[instructions[frame.f_lasti]]
            return step

        return step

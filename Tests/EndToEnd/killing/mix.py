"""Random commands of all families over few names: ids, keys, kinds, devices and groups change hands all the time."""

import uuid

from support.commands import encode
from support.dates import HOUR, MINUTE, SECOND
from support.provider import button, toggle
from support.widgets import widget

APPS = ["com.a", "com.b", "com.c"]
IDS = [str(uuid.UUID(int=(0x0198C0DE << 96) | (7 << 76) | (2 << 62) | n)) for n in range(1, 11)]
KEYS = ["k1", "k2", "k3", "k4", "k5"]
DEVICES = ["phone", "tablet"]
GROUPS = ["group.one", "group.two"]
CONTROLS = ["Torch", "Door"]
WIDGETS = ["Forecast"]

REPEATED = 0.1
"""Share of the commands whose `req` ends in no number and comes again and again."""
HANDED_OVER = 0.2
"""Share of the messages that only remove what is placed and place it in another app."""
AT_OWNER = 0.8
"""Share of the commands that go to the app at which their id was used last; the others mostly find nothing."""


def kinds(relevance):
    """What a provider declares: short deadlines, so that a call that nobody answers does not hold up the clock for long."""
    short = {"valueDeadline": 200, "actionDeadline": 200}
    controls = [toggle("Torch", **short), button("Door", hasValue=True, previewValue=0, **short)]
    widgets = [widget("Forecast", timelineDeadline=200, actionDeadline=200, providesRelevance=relevance)]
    return controls, widgets


class Mix:
    """The commands of one seed. `now` is the domain time that the campaign last heard of."""

    def __init__(self, random):
        self.random = random
        self.now = 0
        self.clients = [str(uuid.UUID(int=random.getrandbits(128), version=4)) for _ in range(2)]
        self.number = 0
        self._owners = {}
        families = [
            (6, self._activity), (4, self._control), (4, self._widget), (3, self._group), (1, self._device),
            (1, self._settings)]
        self._weights = [weight for weight, _ in families]
        self._families = [make for _, make in families]

    def message(self):
        """The frames of one message: mostly few, now and then a hundred; many of them are about one entity only."""
        if self.random.random() < HANDED_OVER:
            return self._hand_over()
        count = self.random.choice([1, 1, 2, 3, 5, 10, 30, 100])
        if self.random.random() < 0.5:
            return [self._frame() for _ in range(count)]
        only, make = self.random.choice(IDS), self.random.choice([self._activity, self._control, self._widget])
        return [self._frame(only, make) for _ in range(count)]

    def advance(self):
        """A step of the clock."""
        return self.random.choice([0, 1, SECOND, MINUTE, 9 * MINUTE, 11 * MINUTE, HOUR, 5 * HOUR])

    def _hand_over(self):
        """Some ids go from app to app, so that one batch has several lives of each."""
        family, make = self.random.choice([("control", self._control), ("widget", self._widget)])
        frames = []
        for id in self.random.sample(IDS, self.random.randrange(1, len(IDS))):
            for _ in range(self.random.randrange(1, 4)):
                if owner := self._owners.get((family, id)):
                    frames.append(self._encoded({"op": f"{family}.remove", "app": owner, "id": id}))
                while not (command := make())["op"].endswith(".add"):
                    pass
                frames.append(self._encoded({**command, "id": id}))
        return frames

    def _frame(self, only=None, make=None):
        command = (make or self.random.choices(self._families, self._weights)[0])()
        if only and command.get("id"):
            command["id"] = only
        return self._encoded(command)

    def _encoded(self, command):
        command = {name: value for name, value in command.items() if value is not None}
        self._settle_app(command)
        self.number += 1
        word = self.random.choice(["go", "stop"]) if self.random.random() < REPEATED else f"m-{self.number}"
        return encode({**command, "client": self.random.choice(self.clients), "req": word})

    def _settle_app(self, command):
        """A new one makes its app the owner of its id; anything else mostly goes to the owner."""
        family, _, verb = command["op"].partition(".")
        place = family, command.get("id")
        if verb in ("start", "add"):
            self._owners[place] = command["app"]
        elif place in self._owners and self.random.random() < AT_OWNER:
            command["app"] = self._owners[place]

    # What is drawn

    def _maybe(self, make, share=0.5):
        return make() if self.random.random() < share else None

    def _date(self):
        return self.now + self.random.choice([-SECOND, 1, SECOND, MINUTE, HOUR, 5 * HOUR])

    def _app(self):
        return self.random.choice(APPS)

    def _id(self):
        return self.random.choice(IDS)

    def _content(self):
        return {"n": self.random.randrange(100)}

    def _target(self):
        """Which activity: an id, or a key with or without a device."""
        if self.random.random() < 0.6:
            return {"id": self._id()}
        return {"key": self.random.choice(KEYS), "device": self._maybe(lambda: self.random.choice(DEVICES))}

    def _activity(self):
        choose, app = self.random.choice, self._app()
        verb = choose(["start", "start", "start", "update", "update", "end", "dismiss", "renew", "tap"])
        common = {"op": f"activity.{verb}", "app": app}
        match verb:
            case "start":
                scheduled = self._maybe(self._date, 0.15)
                return {
                    **common, "type": choose(["Delivery", "Ride"]), "attributes": self._content(),
                    "contentState": self._content(), "staleDate": self._maybe(self._date), "startDate": scheduled,
                    "alert": {"title": "Soon", "body": "It begins"} if scheduled else None,
                    "id": self._maybe(self._id, 0.8), "key": self._maybe(lambda: choose(KEYS), 0.4),
                    "device": self._maybe(lambda: choose(DEVICES), 0.4),
                    "style": self._maybe(lambda: "transient", 0.1), "ifExists": self._maybe(lambda: "update", 0.2)}
            case "update":
                return {**common, **self._target(), "contentState": self._content(),
                        "staleDate": self._maybe(self._date)}
            case "end":
                policy = choose([None, "default", "immediate", {"after": self._date()}])
                return {**common, **self._target(), "dismissalPolicy": policy,
                        "contentState": self._maybe(self._content)}
            case "renew":
                return {**common, **self._target(), "contentState": self._maybe(self._content),
                        "staleDate": self._maybe(self._date)}
            case _:
                return {**common, **self._target()}

    def _control(self):
        choose = self.random.choice
        verb = choose(["add", "add", "remove", "tap", "tap", "reload", "configure"])
        common = {"op": f"control.{verb}", "app": self._app()}
        match verb:
            case "add":
                return {**common, "kind": choose(CONTROLS), "id": self._id(),
                        "device": self._maybe(lambda: choose(DEVICES))}
            case "reload" if self.random.random() < 0.3:
                return {**common, "kind": choose(CONTROLS)}
            case "configure":
                return {**common, "id": self._id(), "configuration": {}}
            case _:
                return {**common, "id": self._id()}

    def _widget(self):
        choose = self.random.choice
        verb = choose(["add", "add", "remove", "tap", "reload", "visible", "configure", "invalidateRelevance"])
        common = {"op": f"widget.{verb}", "app": self._app()}
        match verb:
            case "add":
                return {**common, "kind": choose(WIDGETS), "family": "systemSmall", "id": self._id(),
                        "device": self._maybe(lambda: choose(DEVICES))}
            case "invalidateRelevance":
                return {**common, "kind": choose(WIDGETS)}
            case "reload" if self.random.random() < 0.3:
                return {**common, "kind": choose(WIDGETS)}
            case "tap":
                return {**common, "id": self._id(), "action": self._maybe(lambda: "refresh")}
            case "configure":
                return {**common, "id": self._id(), "configuration": {}}
            case _:
                return {**common, "id": self._id()}

    def _group(self):
        choose = self.random.choice
        verb = choose(["create", "admit", "leave", "set", "set", "set", "delete", "notify"])
        common = {"op": f"group.{verb}", "app": self._app(), "group": choose(GROUPS)}
        match verb:
            case "create":
                return {**common, "members": self._maybe(lambda: [self._app()])}
            case "admit":
                return {**common, "member": self._app()}
            case "set":
                return {**common, "key": choose(KEYS), "value": self._content()}
            case "delete":
                return {**common, "key": choose(KEYS)}
            case "notify":
                return {**common, "name": "changed"}
            case _:
                return common

    def _device(self):
        event = self.random.choice(
            ["lock", "unlock", "collapse", "leave", "reboot", "appForeground", "appBackground", "uninstall"])
        of_app = event in ("appForeground", "appBackground", "uninstall")
        return {"op": "device.event", "device": self.random.choice(DEVICES), "event": event,
                "app": self._app() if of_app else None}

    def _settings(self):
        return {"op": "settings.set", "app": self._app(), "device": self._maybe(lambda: self.random.choice(DEVICES)),
                "activitiesEnabled": self.random.random() < 0.8, "frequentPushesEnabled": self._maybe(lambda: True)}

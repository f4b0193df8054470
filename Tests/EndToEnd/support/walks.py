"""Walks through the contract: everything that a service says on the way is kept with the schema that it must keep."""

import json

TORCH = {"kind": "Torch", "template": "toggle", "displayName": "Torch", "tint": "yellow"}
WARMER = {
    "kind": "Warmer", "template": "button", "hasValue": True, "previewValue": {"celsius": 20}, "privacySensitive": True,
    "authenticationPolicy": "requiresAuthentication",
    "parameters": [
        {"name": "room", "type": "enum", "options": [{"value": "hall", "title": "Hall"}], "default": "hall"},
        {"name": "sensor", "type": "entity", "isOptional": True, "dynamicOptions": True},
    ],
}
CITY = {"name": "city", "type": "string", "isOptional": True}
FORECAST = {
    "kind": "Forecast", "families": ["systemSmall", "systemMedium"], "displayName": "Forecast", "parameters": [
        CITY, {"name": "station", "type": "entity", "isOptional": True, "dynamicOptions": True}],
    "providesRelevance": True, "providesRecommendations": True, "placeholder": {"celsius": None},
    "rendering": {"modes": ["fullColor", "accented"]},
}
CLOCK = {"kind": "Clock", "families": ["accessoryInline"]}
GROUP = "group.com.example.pizza"


class ProviderTalk:
    """A provider's connection; everything that the service says on it goes to `frames`, with its schema."""

    me = "0198c0de-0000-7000-8000-0000000000f1"

    def __init__(self, provider, frames):
        self.provider, self.frames, self.calls = provider, frames, []

    def say(self, op, **fields):
        self.provider.send({"op": op, "provider": self.me, **fields})

    def asked(self, schema, op, **fields):
        """Asks something that is answered."""
        command = self.provider.command(op, **{"provider": self.me, **fields})
        self.provider.send(command)
        while True:
            frame = self._receive()
            if json.loads(frame).get("req") == command["req"]:
                self.frames.append((f"answers/{schema}.json", frame))
                return json.loads(frame)
            self._note(frame)

    def refused(self):
        """Waits for a refusal of what is not answered otherwise."""
        while True:
            frame = self._receive()
            if "ok" in json.loads(frame):
                self.frames.append(("answers/error.json", frame))
                return
            self._note(frame)

    def called(self, op):
        """The name of the next call of this op."""
        while not (found := [call for call in self.calls if call["op"] == op]):
            self._note(self._receive())
        self.calls.remove(found[0])
        return found[0]["call"]

    def _receive(self):
        [frame] = self.provider.wire.receive(self.provider.socket)
        return frame

    def _note(self, frame):
        said = json.loads(frame)
        assert "ok" not in said, said
        self.frames.append((f"calls/{said['op']}.json", frame))
        if said["op"] != "provider.ping":
            self.calls.append(said)


def controls(client, talk, ask):
    """Controls and their provider."""
    talk.asked("provider.register", "provider.register", kinds=[TORCH, WARMER], capacity=4)
    talk.asked("error", "provider.register", kinds=[{**TORCH, "template": "slider"}])
    talk.asked("error", "provider.register", provider=talk.me[:-1] + "2", kinds=[{**TORCH, "tint": "red"}])
    ask("control.kinds", "control.kinds")
    ask("control.preview", "control.preview", kind="Warmer")
    ask("control.options", "control.options", kind="Warmer", parameter="room")
    torch = ask("change", "control.add", kind="Torch")["control"]["id"]
    talk.say("provider.answer", call=talk.called("control.value"), value=True, status="Bright")
    ask("change", "control.tap", id=torch)
    talk.say("provider.answer", call=talk.called("control.perform"), status="Off")
    talk.say("provider.answer", call=talk.called("control.value"), value=False)
    talk.say("provider.answer", call="999", value=True)
    talk.refused()
    ask("change", "control.reload", id=torch)
    talk.say("provider.answer", call=talk.called("control.value"), value="neither")
    talk.refused()
    hall = {"room": "hall"}
    warmer = ask("change", "control.add", kind="Warmer", device="phone", configuration=hall)["control"]["id"]
    talk.say("provider.answer", call=talk.called("control.value"), value={"celsius": 20.5}, isActive=True, tint="red",
             actionHint="Warmer")
    ask("error", "control.add", kind="Warmer", configuration={"room": "cellar"})
    ask("change", "control.configure", id=warmer, configuration={})
    talk.say("provider.fail", call=talk.called("control.value"), message="no sensor")
    ask("change", "device.event", device="phone", event="lock")
    ask("control.get", "control.get", id=warmer)
    ask("change", "control.tap", id=warmer)
    ask("now", "clock.advance", by=0)
    ask("change", "device.event", device="phone", event="unlock")
    talk.say("provider.fail", call=talk.called("control.perform"))
    talk.say("provider.answer", call=talk.called("control.value"), value=1, disabled=True)
    client.send({"op": "control.options", "req": "o", "app": client.app, "kind": "Warmer", "parameter": "sensor"})
    talk.say("provider.answer", call=talk.called("control.options"), value=[{"value": "s1", "title": "Window"}])
    talk.frames.append(("answers/control.options.json", client.wire.receive(client.socket)[0]))
    ask("change", "control.tap", id=warmer)
    ask("change", "control.reload", kind="Torch")
    talk.called("control.value")
    ask("change", "control.tap", id=torch)
    talk.called("provider.cancel")
    talk.say("provider.answer", call=talk.called("control.perform"))
    talk.say("provider.answer", call=talk.called("control.value"), value=True)
    ask("control.get", "control.get", id=torch, maxAge=1_000_000)
    ask("provider.list", "provider.list", app=None)
    for op in ("history", "explain"):
        ask(f"control.{op}", f"control.{op}", id=torch)
        ask(f"control.{op}", f"control.{op}", id=warmer)
    ask("control.list", "control.list", limit=1)
    ask("control.list", "control.list", state="disabled")
    ask("change", "control.remove", id=warmer)
    ask("error", "control.get", id=warmer)
    ask("error", "control.add", kind="Sundial")
    talk.asked("now", "provider.drain", app=None)
    talk.asked("now", "provider.leave", app=None)
    talk.say("provider.pong")
    talk.refused()
    ask("error", "control.tap", id=torch)

def widgets(client, talk, ask):
    """Widgets and their provider."""
    def show(call, *entries, **more):
        talk.say("provider.answer", call=call, entries=list(entries), **more)

    def now():
        return ask("now", "service.ping", app=None)["now"]

    def waits(op, answer, **fields):
        """A read that waits for what the provider answers."""
        client.send(client.command(op, kind="Forecast", **fields))
        talk.say("provider.answer", call=talk.called(op), **answer)
        talk.frames.append((f"answers/{op}.json", client.wire.receive(client.socket)[0]))

    begin = now()
    talk.asked("provider.register", "provider.register", kinds=[TORCH], widgets=[FORECAST, CLOCK], capacity=4)
    talk.asked("error", "provider.register", widgets=[{**FORECAST, "families": []}])
    talk.say("provider.answer", call=talk.called("control.value"), value=True)
    talk.say("provider.answer", call=talk.called("widget.relevance"), value=[{"from": begin}, {"configuration": {}}])
    ask("widget.kinds", "widget.kinds")
    ask("widget.options", "widget.options", kind="Forecast", parameter="city")
    waits("widget.options", {"value": [{"value": "s1", "title": "Station"}]}, parameter="station",
          query="entitiesFor", identifiers=["s1"])
    waits("widget.recommendations", {"value": [{"configuration": {}, "description": "Here"}]})
    waits("widget.snapshot", {"entries": [{"date": begin}]}, family="systemSmall", isPreview=True,
          configuration={"city": "x"})
    ask("widget.recommendations", "widget.recommendations", kind="Forecast")
    ask("change", "widget.invalidateRecommendations")
    ask("change", "widget.invalidateRelevance", kind="Forecast")
    talk.say("provider.answer", call=talk.called("widget.relevance"), value=[])
    forecast = ask("change", "widget.add", kind="Forecast", family="systemMedium", device="tablet",
                   configuration={"city": "x"}, rendering={"mode": "accented"})["widget"]["id"]
    show(talk.called("widget.timeline"), {"date": begin - 2}, {"date": begin - 1, "relevance": {"score": 2}},
         {"date": begin, "content": {"celsius": 20.5}, "relevance": {"score": 1, "duration": 60_000}, "url": "w://1",
          "links": {"more": "w://2"}}, {"date": begin + 1}, {"date": begin + 3_600_000},
         policy={"after": begin + 7_200_000})
    ask("error", "widget.add", kind="Forecast", family="accessoryInline")
    ask("error", "widget.add", kind="Sundial", family="systemSmall")
    ask("error", "widget.add", kind="Forecast", family="systemSmall", rendering={"mode": "vibrant"})
    ask("change", "widget.configure", id=forecast, rendering={})
    ask("change", "widget.configure", id=forecast, rendering={})
    ask("change", "widget.visible", id=forecast)
    ask("change", "widget.reload", id=forecast)
    ask("change", "widget.reload", id=forecast)
    ask("widget.budget", "widget.budget", id=forecast)
    ask("widget.get", "widget.get", id=forecast)
    ask("widget.stack", "widget.stack", device="tablet")
    ask("change", "device.event", device="tablet", event="appForeground", app=client.app)
    show(talk.called("widget.timeline"), {"date": begin, "url": "w://1", "links": {"more": "w://2"}}, policy="never")
    ask("change", "device.event", device="tablet", event="appBackground", app=client.app)
    for tap in ({}, {"link": "more"}, {"link": "less"}):
        ask("error" if tap.get("link") == "less" else "change", "widget.tap", id=forecast, **tap)
    ask("change", "widget.tap", id=forecast, action="refresh", parameters={"deep": True})
    ask("change", "widget.tap", id=forecast, action="refresh")
    talk.say("provider.answer", call=talk.called("widget.perform"))
    show(talk.called("widget.timeline"), {"date": begin}, needsLogin=True)
    ask("change", "widget.tap", id=forecast, action="refresh")
    talk.say("provider.fail", call=talk.called("widget.perform"), message="no network")
    call = talk.called("widget.timeline")
    show(call, {"date": begin + 1}, {"date": begin})
    talk.refused()
    ask("widget.get", "widget.get", id=forecast)
    clock = ask("change", "widget.add", kind="Clock", family="accessoryInline", device="tablet")["widget"]["id"]
    call = talk.called("widget.timeline")
    talk.say("provider.answer", call=call, entries=[])
    talk.refused()
    ask("widget.list", "widget.list", limit=1)
    ask("widget.list", "widget.list", state="placeholder")
    ask("widget.timeline", "widget.timeline", id=forecast, at=begin)
    ask("widget.timeline", "widget.timeline", id=clock, at=begin)
    for op in ("history", "explain"):
        ask(f"widget.{op}", f"widget.{op}", id=forecast)
        ask(f"widget.{op}", f"widget.{op}", id=clock)
    ask("info", "service.info")
    ask("change", "widget.reload")
    ask("change", "widget.remove", id=forecast)
    ask("error", "widget.get", id=forecast)
    talk.asked("now", "provider.drain", app=None)
    talk.asked("now", "provider.leave", app=None)
    ask("error", "widget.snapshot", kind="Forecast", family="systemSmall")
    tapped = ask("change", "activity.start", type="Tapped", attributes={}, contentState={})["activity"]["id"]
    ask("change", "activity.tap", id=tapped, url="pizza://order/7")
    ask("change", "activity.tap", id=tapped)
    ask("change", "activity.end", id=tapped, dismissalPolicy="immediate")
    ask("change", "activity.tap", id=tapped)


def groups(client, ask):
    """A group of two apps."""
    other = {"group": GROUP, "app": "com.example.pizza.widgets"}
    ask("change", "group.create", group=GROUP, members=["com.example.pizza.widgets"])
    ask("error", "group.create", group=GROUP)
    ask("change", "group.admit", member="com.example.watch", **other)
    ask("change", "group.leave", group=GROUP, app="com.example.watch")
    ask("change", "group.set", key="k", value={"n": 1.50}, **other)
    ask("change", "group.set", group=GROUP, key="k", value={"n": 2}, ifRevision=1)
    ask("change", "group.set", group=GROUP, key="k", value={"n": 2})
    ask("change", "group.set", group=GROUP, key="l", value=[])
    ask("error", "group.set", group=GROUP, key="k", value=1, ifRevision=1)
    ask("error", "group.set", group=GROUP, key="k", value="x" * 20_000)
    ask("group.get", "group.get", key="k", **other)
    ask("error", "group.get", group=GROUP, key="nothing")
    ask("error", "group.get", group=GROUP, key="k", app="com.example.stranger")
    ask("error", "group.info", group="group.other")
    ask("group.list", "group.list", limit=1, **other)
    ask("group.list", "group.list", group=GROUP, prefix="l")
    ask("group.info", "group.info", group=GROUP)
    ask("change", "group.notify", name="moved", **other)
    ask("change", "group.delete", key="k", **other)

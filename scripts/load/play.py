"""Plays scenarios against a service, and checks all that comes back: speed without correctness fails.

    .venv/bin/python scripts/load/play.py [SCENARIO.yaml …] [--with c|python] [--seconds N] [--scale X] [--seed N]
                                          [--commands URL --events URL]

Without scenarios: all of `scripts/load/scenarios`. Without addresses it starts `islet serve` with files of its own. Ends
with 1 where an event was lost or wrong, a digest or a final state differs, or an action was not performed exactly once.
"""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import secrets
import subprocess
import sys

import yaml

import services
from home_player import HomePlayer
from player import Player
from services import ROOT, LoadFailed, run
from stream_check import Wrong

SCENARIOS = ROOT / "scripts" / "load" / "scenarios"
NEEDED = {"about", "seconds", "rate", "mix", "activities", "content", "publishers", "subscribers"}
OPTIONAL = {"controls"}


def read(path, options):
    """A scenario with what the command line changes of it."""
    scenario = yaml.safe_load(path.read_text())
    if wrong := NEEDED - scenario.keys() | scenario.keys() - NEEDED - OPTIONAL:
        sys.exit(f"{path}: missing or unknown: {', '.join(sorted(wrong))}")
    scenario["seconds"] = options.seconds or scenario["seconds"]
    scenario["rate"] = max(1, round(scenario["rate"] * options.scale))
    scenario["activities"] = max(1, round(scenario["activities"] * options.scale))
    return scenario


def play_in_c(scenario, endpoints, app, seed, patience):
    """Both generators in C at the same time, where the scenario has controls."""
    urls = {name: endpoints[name] for name in ("commands", "events")}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        controls = None
        if wanted := scenario.get("controls"):
            controls = pool.submit(
                run, "provider", **urls, only="rate", controls=wanted["placed"], kinds=wanted["kinds"],
                capacity=wanted["capacity"], window=1, rate=wanted["taps"], seconds=scenario["seconds"])
        measured = run(
            "play", **urls, app=app, rate=scenario["rate"], seconds=scenario["seconds"],
            activities=scenario["activities"], **{name: weight for name, weight in scenario["mix"].items() if weight},
            smallest=scenario["content"]["from"], largest=scenario["content"]["to"],
            publishers=scenario["publishers"], subscribers=scenario["subscribers"], seed=seed, patience=patience)
        if controls:
            rate = controls.result()["rate"]
            measured["taps"] = {"taps": rate["final"]["count"], "final": rate["final"]}
    return measured


def play_in_python(scenario, endpoints, app, seed, patience):
    """The same from Python; the controls in a thread."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        controls = None
        if scenario.get("controls"):
            controls = pool.submit(HomePlayer(scenario, endpoints, f"{app}.home", seed, patience).play)
        measured = Player(scenario, endpoints, app, seed, patience).play()
        if controls:
            measured["taps"] = controls.result()
    return measured


PLAYERS = {"c": play_in_c, "python": play_in_python}


def show(name, measured):
    """A few lines for a person."""
    print(f"{name}: {measured['operations']:,} operations at {measured['perSecond']:,}/s, {measured['events']:,} events, "
          f"digest {measured['digest']} agrees, {measured['read']:,} read back")
    rows = {"sent late by": measured["sendDelay"], "to the answer": measured["answer"], "to the event": measured["event"]}
    if taps := measured.get("taps"):
        rows["tap to final value"] = taps["final"]
    for words, figures in rows.items():
        shown = "".join(f"{part} {figures[part] / 1000:9.3f}   " for part in ("p50", "p99", "p999", "max"))
        print(f"  {words:20}{shown}ms of {figures['count']:,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", type=pathlib.Path)
    parser.add_argument("--with", dest="player", choices=PLAYERS, default="c", help="which load generator")
    parser.add_argument("--seconds", type=int, help="in place of the scenario's")
    parser.add_argument("--scale", type=float, default=1, help="factor on rate and activities")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=int, default=10, help="seconds without progress after which it has failed")
    parser.add_argument("--commands", help="of a running service")
    parser.add_argument("--events")
    parser.add_argument("--json", action="store_true", help="print what was measured as one line of JSON each")
    options = parser.parse_args()
    if bool(options.commands) != bool(options.events):
        parser.error("--commands and --events go together")
    if options.player == "c":
        subprocess.run(["bash", "-c", ". scripts/lib.sh && build_load"], cwd=ROOT, check=True)
    failed = False
    for path in options.scenarios or sorted(SCENARIOS.glob("*.yaml")):
        scenario = read(path, options)
        given = {"commands": options.commands, "events": options.events}
        with services.islet() if not options.commands else contextlib.nullcontext((given, None)) as (endpoints, _):
            try:
                app = f"com.example.load.{secrets.token_hex(4)}"
                measured = PLAYERS[options.player](scenario, endpoints, app, options.seed, options.patience)
                if options.json:
                    print(json.dumps({"scenario": path.stem, "app": app, **measured}))
                else:
                    show(path.stem, measured)
            except (LoadFailed, Wrong) as failure:
                failed = True
                print(f"{path.stem} FAILED: {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

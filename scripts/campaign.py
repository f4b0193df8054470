"""The long versions of the proofs, each as a process of its own: runs them, and makes one table of what they say."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILT = ROOT / ".build" / "release"
PAGE = ROOT / "RELIABILITY.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


class Failed(Exception):
    """A proof that did not hold, or could not be run."""


def run(words, **variables):
    """A process in the project's root; gives what it printed, and passes on what it says meanwhile."""
    print("==", *words, file=sys.stderr, flush=True)
    done = subprocess.run(
        [str(word) for word in words], cwd=ROOT, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **{name: str(value) for name, value in variables.items()}})
    if done.returncode:
        print(done.stdout[-8000:], file=sys.stderr)
        raise Failed(f"{words[0]} ended with {done.returncode}")
    return done.stdout


def grouped(number):
    return f"{number:,}".replace(",", " ")


def simulator(options):
    """The real partition over a simulated disk, clock and network, judged by an oracle after each step; on all cores."""
    parts = min(os.cpu_count() or 1, options.seeds)
    bounds = [options.seeds * part // parts for part in range(parts + 1)]

    def play(begin, end):
        return json.loads(run([
            BUILT / "islet-sim", "--json", "--first", options.seed + begin, "--seeds", end - begin, "--steps", 400]))

    with concurrent.futures.ThreadPoolExecutor(parts) as pool:
        played = list(pool.map(play, bounds, bounds[1:]))
    found = {key: sum(part[key] for part in played) for key in played[0] if key != "hash"}
    found["years"] = round(found["years"], 1)
    if found["failures"]:
        raise Failed(f"{found['failures']} seeds failed")
    names = {
        "years": "simulated years", "commands": "commands, some two fifths of them the checker's own reads",
        "transitions": "transitions", "deadlines": "deadlines taken",
        "kills": "kills", "powerLosses": "power losses",
        "inputOutputErrors": "failed writes and syncs", "recoveryCrashes": "crashes while recovering",
        "clockJumps": "clock jumps", "retries": "retries", "fullDisks": "full disks", "replays": "replays",
        "snapshots": "snapshots", "digests": "digests compared", "calls": "calls of providers",
        "expired": "commands whose ttl was over", "waits": "reads that waited for their minSeq",
        "checks": "checks by the oracle"}
    rows = [("seeds, each played twice", f"{grouped(found['seeds'])} from {options.seed}")]
    rows += [(name, grouped(found[key])) for key, name in names.items()]
    return "Simulator", rows


def powerloss(options):
    """SQLite over a file system that loses what was not synced, and tears the rest."""
    found = json.loads(run([
        BUILT / "islet-powerloss", "--json", "--losses", options.power_losses, "--seed", options.seed]).splitlines()[-1])
    rows = [("seed", str(found.pop("seed")))]
    del found["seconds"]
    rows += [(re.sub("([A-Z])", lambda m: " " + m.group(1).lower(), name), grouped(n)) for name, n in found.items()]
    return "Crash file system under SQLite", rows


def kill(options):
    """`kill -9` of the real service under load; every acknowledged command is looked for."""
    said = run([
        sys.executable, "scripts/kill_campaign.py", "--kills", options.kills, "--seed", options.seed,
        "--seconds-between", "0.05..0.6"])
    rows = [re.split(r"\s{2,}", line.strip()) for line in said.splitlines() if re.search(r"\s{2,}", line.strip())]
    return "kill -9 of the real service", [(name, value) for name, value in rows]


def restarts(options):
    """`kill -9` in the middle of random commands of all families; what is shown after each start is held against the stream."""
    said = run([
        sys.executable, "scripts/restart_campaign.py", "--seeds", options.restarts, "--first", options.seed,
        "--jobs", os.cpu_count() or 1])
    rows = [re.split(r"\s{2,}", line.strip()) for line in said.splitlines() if re.search(r"\s{2,}", line.strip())]
    return "Restarts of the real service", [(name, value) for name, value in rows]


def model(options):
    """An independent model in Python, played against the service by Hypothesis."""
    said = run(
        [sys.executable, "-m", "pytest", "Tests/EndToEnd/test_model.py", "-q", "-s", "-k", "contract or restarts"],
        ISLET_MODEL="campaign", ISLET_MODEL_EXAMPLES=options.examples, ISLET_MODEL_SEED=options.seed)
    played = re.findall(r"(\d+) commands in (\d+) examples", said)
    return "Hypothesis over the wire", [
        ("examples", grouped(sum(int(examples) for _, examples in played))),
        ("commands", grouped(sum(int(commands) for commands, _ in played))), ("seed", str(options.seed))]


def fuzz(options):
    """libFuzzer on everything that reads bytes from outside."""
    begun = time.monotonic()
    run([ROOT / "scripts" / "fuzz", "--seconds", options.fuzz])
    return "libFuzzer", [("seconds", grouped(round(time.monotonic() - begun))), ("crashes", "0")]


def mutants(_):
    """Deliberate faults, each of which a test must find."""
    found = json.loads(run([ROOT / "scripts" / "mutants", "--json"]).splitlines()[-1])
    return "Mutants", [("killed", f"{found['killed']} of {found['mutants']}")]


PROOFS = {proof.__name__: proof for proof in (simulator, powerloss, kill, restarts, model, fuzz, mutants)}


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} × {cpu.group(1) if cpu else platform.machine()}, Linux {platform.release().split('-')[0]}"


def commit():
    """The commit, marked where anything but the table itself was changed since."""
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()
    is_changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", ".", ":!RELIABILITY.md"], cwd=ROOT).returncode
    return f"{head}-dirty" if is_changed else head


def block(title, rows, seconds, tried):
    """The rows of one proof, the first of which says when and of what it is."""
    of = f"{time.strftime('%Y-%m-%d', time.gmtime())}, `{tried}`, {grouped(round(seconds))} s"
    return [f"| **{title}** | {of} | |", *(f"| | {name} | {value} |" for name, value in rows)]


def blocks(text):
    """The blocks of a table by their titles."""
    found, title = {}, None
    for line in text.splitlines():
        if match := re.match(r"\| \*\*(.+?)\*\* \|", line):
            title = match.group(1)
            found[title] = []
        if title and line.startswith("|"):
            found[title].append(line)
    return found


def table(found):
    lines = [f"{machine()}. Each proof with the day and the commit of its last run.", "",
             "| proof | what | how many |", "|---|---|---:|"]
    return "\n".join([*lines, *(line for rows in found.values() for line in rows)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PROOFS, default=list(PROOFS))
    parser.add_argument("--write", action="store_true", help="put what was run into the table of RELIABILITY.md")
    parser.add_argument("--seeds", type=int, default=20_000)
    parser.add_argument("--power-losses", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--restarts", type=int, default=500, help="seeds of the restart campaign")
    parser.add_argument("--examples", type=int, default=3_000)
    parser.add_argument("--fuzz", type=int, default=600, help="seconds of each target")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 32))
    options = parser.parse_args()

    # Now, and not when a proof has ended: what it tries is built.
    tried, found, failed = commit(), {}, []
    for name in options.only:
        begun = time.monotonic()
        try:
            title, rows = PROOFS[name](options)
            found[title] = block(title, rows, time.monotonic() - begun, tried)
        except Failed as failure:
            failed.append(f"{name}: {failure} (seed {options.seed})")
    print(table(found))
    for line in failed:
        print(f"FAILED {line}", file=sys.stderr)
    if options.write and not failed:
        page = PAGE.read_text()
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        known = {**blocks(page.split(BEGIN)[1].split(END)[0]), **found}
        PAGE.write_text(f"{head}{BEGIN}\n\n{table(known)}\n{END}{tail}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

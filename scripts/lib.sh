# Shared by the scripts beside it; sourced, never run. Defines what the machine needs and how it is brought there.

# The root of the project: every script runs from here.
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
cd -- "$root" || exit 1

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# What `swift build` needs beside the toolchain: the two C libraries, and what a bare image lacks for linking.
build_packages="libzmq3-dev libsqlite3-dev git ca-certificates binutils gcc g++ libc6-dev zlib1g-dev tzdata"

# What the tests use besides: they make a Debian package, check man pages, look at the board, and count instructions.
test_packages="dpkg-dev mandoc chromium valgrind"

# Sets `as_root`, and brings the lists of apt up to date once; $1 is what a person without sudo must do with apt-get.
update_apt() {
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "please do as root: apt-get $1"
        as_root=(sudo)
    fi
    if [ -z "${apt_updated:-}" ]; then
        "${as_root[@]}" apt-get update -qq || die "apt-get update failed"
        apt_updated=yes
    fi
}

# Installs the Debian packages that are missing; says what it does, and does nothing when all are there.
need_packages() {
    local package missing=""
    command -v dpkg-query >/dev/null || { say "not a Debian system; needed are: $*"; return 0; }
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0

    update_apt "install$missing"
    say "installing:$missing"
    # shellcheck disable=SC2086 # a list of words on purpose
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2 ||
        die "apt-get could not install:$missing"
}

# The Swift toolchain cannot come from Debian: say plainly where it comes from when it is absent or too old.
need_swift() {
    local version where="https://www.swift.org/install/linux/"
    command -v swift >/dev/null || die "swift is not in PATH; Swift 6.3 or later is needed: $where"
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    [ "$(printf '6.3\n%s\n' "$version" | sort -V | head -n 1)" = 6.3 ] ||
        die "Swift 6.3 or later is needed, this one is ${version:-unknown}: $where"
}

# The first Python 3.11 or later that is able to make a virtual environment with pip in it.
usable_python() {
    local candidate
    for candidate in python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11; do
        command -v "$candidate" >/dev/null || continue
        "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        "$candidate" -c 'import sys; print(sys.executable)'
        return 0
    done
    return 1
}

# Makes `.venv` with the packages of scripts/requirements.txt, and those of scripts/requirements-alone.txt without what
# they depend on; again only when a list has changed.
need_venv() {
    local wanted python stamp=.venv/.requirements
    wanted=$(cat scripts/requirements.txt scripts/requirements-alone.txt | cksum)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && .venv/bin/python -c '' 2>/dev/null; then return 0; fi
    python=$(usable_python) || {
        need_packages python3 python3-venv
        python=$(usable_python) || die "a Python 3.11 or later with venv and ensurepip is needed"
    }
    say "making .venv with $python"
    rm -rf .venv
    "$python" -m venv .venv || die "could not make .venv"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt ||
        die "pip could not install scripts/requirements.txt"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
        -r scripts/requirements-alone.txt || die "pip could not install scripts/requirements-alone.txt"
    printf '%s\n' "$wanted" >"$stamp"
}

# promtool, with which the tests check metrics, rules and the dashboard, in PATH or as .build/tools/promtool. It is taken out
# of Debian's package of Prometheus: to install that would start a server on this machine.
need_promtool() {
    local folder
    if command -v promtool >/dev/null || [ -x .build/tools/promtool ]; then return 0; fi
    command -v dpkg-deb >/dev/null || { say "not a Debian system; needed is: promtool"; return 0; }
    say "fetching promtool"
    update_apt "install prometheus"
    mkdir -p .build/tools
    folder=$(mktemp -d .build/tools/XXXXXX)
    (cd "$folder" && apt-get download -qq prometheus 2>/dev/null) || die "apt-get could not download prometheus"
    dpkg-deb --fsys-tarfile "$folder"/prometheus_*.deb | tar -x -C "$folder" ./usr/bin/promtool
    mv "$folder/usr/bin/promtool" .build/tools/promtool
    rm -rf "$folder"
}

# Builds the load generators, in C and in Erlang, into .build/load; one at a time, since tests run side by side.
build_load() {
    local source program
    mkdir -p .build/load
    exec {lock}>.build/load/lock
    flock "$lock"
    for source in scripts/load/*.c; do
        program=.build/load/$(basename -- "$source" .c)
        if [ "$program" -nt "$source" ] && [ -z "$(find scripts/load -name '*.h' -newer "$program")" ]; then continue; fi
        gcc -std=gnu11 -O2 -Wall -Wextra -pthread "$source" -o "$program.new" -lzmq || die "gcc could not build $source"
        mv "$program.new" "$program"
    done
    ln -sfn "$(command -v redis-server || command -v redis-check-rdb || echo redis-server)" .build/load/redis-server
    if command -v erlc >/dev/null && ! [ .build/load/timers.beam -nt scripts/load/timers.erl ]; then
        erlc -o .build/load scripts/load/timers.erl || die "erlc failed"
    fi
    flock -u "$lock"
}

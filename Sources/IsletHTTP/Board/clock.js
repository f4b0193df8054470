// The service's time, which may run faster than ours, or stand still: all dates on the page are measured by it.

let base = Date.now();
let readAt = performance.now();
let speed = 1;
let known = false;

// What the service said its time is; `arrived` is when it said so.
export function setNow(now, arrived = performance.now()) {
    if (!Number.isFinite(now)) return;
    const drift = now - currentTime();
    // Answers take a moment to arrive: a clock that is a little ahead is left alone, so that it never jumps back.
    if (known && speed !== 0 && drift < 0 && -drift < Math.max(1_500 * speed, 1_500)) return;
    known = true;
    base = now;
    readAt = arrived;
}

export function setSpeed(value) {
    base = currentTime();
    readAt = performance.now();
    speed = value;
}

export function currentSpeed() {
    return speed;
}

// What a span of the service's time takes of ours, in whole milliseconds.
export function realTime(span) {
    return speed > 0 ? Math.floor(span / speed) : span;
}

// After a reconnect the service may be another one, with another time.
export function forgetTime() {
    known = false;
}

export function currentTime() {
    return base + (performance.now() - readAt) * speed;
}

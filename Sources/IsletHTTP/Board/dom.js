// Elements without markup: what a user gave reaches the page as text nodes and attributes, never as HTML.

const svgNamespace = "http://www.w3.org/2000/svg";

// h("button", {class: "quiet", "aria-label": "Close", onclick: close}, "text", child, null)
export function h(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

// The same for drawings.
export function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    append(element, children);
    return element;
}

function append(element, children) {
    for (const child of children) {
        if (Array.isArray(child)) append(element, child);
        else if (child instanceof Node) element.append(child);
        else if (child !== null && child !== undefined && child !== false) element.append(String(child));
    }
}

// Writes text only where it differs, so that a quiet page causes no work and no announcements.
export function setText(element, text) {
    const wanted = String(text);
    if (element.firstChild === null) {
        if (wanted !== "") element.append(wanted);
    } else if (element.textContent !== wanted) {
        element.textContent = wanted;
    }
}

export function setAttribute(element, name, value) {
    if (value === null || value === undefined || value === false) {
        if (element.hasAttribute(name)) element.removeAttribute(name);
        return;
    }
    const wanted = value === true ? "" : String(value);
    if (element.getAttribute(name) !== wanted) element.setAttribute(name, wanted);
}

// Puts an element into a place, unless the one that stands there is the same: what moves goes on, and so does what a
// person has marked.
export function replaceIfOther(place, element) {
    if (!element.isEqualNode(place.firstElementChild)) place.replaceChildren(element);
}

export function byId(id) {
    return document.getElementById(id);
}

// Makes `parent` hold one element for each item, in order: those that are there by key are kept, others made or
// removed.
// `made` is the caller's Map from key to whatever `make` returned (which has `.element`).
export function reconcile(parent, made, items, keyOf, make, update) {
    const wanted = new Set();
    let place = parent.firstElementChild;
    for (const item of items) {
        const key = keyOf(item);
        wanted.add(key);
        let part = made.get(key);
        if (part === undefined) {
            part = make(item);
            made.set(key, part);
        }
        if (part.element === place) place = place.nextElementSibling;
        else parent.insertBefore(part.element, place);
        update(part, item);
    }
    for (const [key, part] of made) {
        if (wanted.has(key)) continue;
        part.element.remove();
        made.delete(key);
    }
}

// Writes as `data-near` whether an element is in sight, or almost. `entered(id)` hears what comes into it.
export function sightWatcher(entered) {
    return new IntersectionObserver((entries) => {
        for (const {target, isIntersecting} of entries) {
            target.dataset.near = isIntersecting ? "yes" : "no";
            if (isIntersecting) entered?.(target.dataset.id);
        }
    }, {rootMargin: "200px"});
}

// Whether the person asked for less movement.
export function prefersStillness() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

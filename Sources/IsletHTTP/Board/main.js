// Starts the board: session, stream, views, and the keys.

import {byId, setText} from "./dom.js";
import {session} from "./api.js";
import {openStream} from "./stream.js";
import {changed, onChange, store} from "./store.js";
import {forgetTime, setNow, setSpeed} from "./clock.js";
import {loadAll} from "./lists.js";
import {take} from "./loader.js";
import {startRoute} from "./route.js";
import {startViews} from "./views.js";
import {startTheme} from "./theme.js";
import {startHeader, tickHeader} from "./header.js";
import {readInfo, readStats, startStats, tickStats} from "./stats.js";
import {moveNow, startTable, tickTable} from "./table.js";
import {startDetail, tickDetail} from "./detail.js";
import {controlChanged, startControls} from "./controls.js";
import {startWidgets, tickWidgets} from "./widgets.js";
import {startProblems} from "./problems.js";
import {startTail} from "./tail.js";
import {startLateness} from "./lateness.js";
import {startKeys} from "./keys.js";
import {startSight} from "./sight.js";
import {startInspect} from "./inspect.js";
import {toast} from "./toast.js";

function connect() {
    let hello = null; // of the connection that is; events before it are none of ours
    const openAnew = openStream({
        hello(data) {
            hello = data;
            if (Number.isFinite(data.now)) {
                forgetTime();
                setNow(data.now);
            }
            store.session = {...store.session, write: data.write === true, version: data.version ?? ""};
            changed("session");
            if (!data.apps) toast(
                "There are more apps than the service names at once: those that change are shown as they do.", "warn");
            namesAll = Boolean(data.apps);
            read(data.apps ?? knownApps());
            readInfo().catch(() => {});
            readStats();
        },
        event(topic, event) {
            if (hello === null) return;
            if (!take(topic, event)) reload(`an event of ${topic.split("/")[0]} is missing`);
            if (event.control !== undefined) controlChanged(event);
        },
        // Apps may have begun unseen: a hello names them.
        lost() {
            if (namesAll) openAnew();
            else reload("this page was too slow for the stream");
        },
        state(state) {
            if (state !== "live") hello = null;
            if (state === "resting") {
                store.hasRested = true;
                changed("tail");
            }
            store.session = {...store.session, connection: state};
            changed("session");
        },
    });
}

let namesAll = true; // whether the service has named all of its apps
let readings = 0;

async function read(apps) {
    const mine = ++readings;
    try {
        await loadAll(apps, namesAll);
    } catch (error) {
        if (mine !== readings) return;
        // A connection that is gone brings a hello later; what is refused is worth a word.
        if (error.code !== "unreachable") toast(`The lists could not be read: ${error.message}`, "bad");
        if (store.session.connection === "live") setTimeout(() => {
            if (mine === readings) reload("they could not be read");
        }, 2_000);
    }
}

// Some apps may have come since the service named them.
function reload(why) {
    console.info(`reading all lists again: ${why}`);
    read(knownApps());
}

function knownApps() {
    return Object.fromEntries([...store.apps].map(([app, {epoch}]) => [app, {epoch}]));
}

// What moves by the frame and what by the second; both do nothing while the page is hidden.
function startTicking() {
    const frame = () => {
        moveNow();
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    setInterval(() => {
        if (document.hidden) return;
        tickStats();
        tickHeader();
        tickTable();
        tickWidgets();
        tickDetail();
    }, 1_000);
}

startTheme();
startRoute();
startViews();
startHeader();
startProblems();
startTable();
startControls();
startWidgets();
startTail();
startLateness();
startDetail();
startInspect();
startKeys();
startStats();
startSight();
startTicking();
session().then((said) => {
    store.session = {...store.session, write: said.write === true, version: said.version ?? ""};
    if (Number.isFinite(said.speed)) setSpeed(said.speed);
    changed("session");
}).catch(() => {});
onChange(({topics}) => {
    if (!topics.has("session")) return;
    setText(byId("offline"), store.session.connection === "waiting"
        ? "No connection to the service. What is shown is from before; it is tried again by itself." : "");
    byId("offline").hidden = store.session.connection !== "waiting";
});
connect();

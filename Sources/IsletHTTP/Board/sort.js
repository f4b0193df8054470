// Orders of activities. Those that are equal stand by id, so that nothing changes places without a reason.

export const sortNames = {
    trouble: "Trouble first",
    started: "Started",
    next: "Next deadline",
    changed: "Last change",
    state: "State",
    key: "Key",
    device: "Device",
    revision: "Revision",
};

const stateOrder = {pending: 0, active: 1, stale: 2, ended: 3, dismissed: 4};

const started = (row) => row.startedAt ?? row.startDate ?? row.timestamp;
const values = {
    trouble: started, // of those that are in trouble, and of the others
    started,
    next: (row) => row.next?.at,
    changed: (row) => row.$changedAt ?? row.timestamp,
    state: (row) => stateOrder[row.state],
    key: (row) => row.key ?? row.id,
    device: (row) => row.device,
    revision: (row) => row.revision,
};

// Nobody has said in time how it stands.
function isInTrouble(row) {
    return row.state === "stale";
}

const collator = new Intl.Collator("en", {numeric: true, sensitivity: "base"});

// In either direction, rows without the value stand last, and what is in trouble stands first where that is asked for.
export function compareBy(name, descending) {
    const value = values[name];
    const turn = descending ? -1 : 1;
    return (one, other) => {
        if (name === "trouble" && isInTrouble(one) !== isInTrouble(other)) return isInTrouble(one) ? -1 : 1;
        const left = value(one);
        const right = value(other);
        if (left === undefined || right === undefined) {
            if (left !== right) return left === undefined ? 1 : -1;
        } else {
            const order = typeof left === "number" ? left - right : collator.compare(left, right);
            if (order !== 0) return order * turn;
        }
        return one.id < other.id ? -1 : 1;
    };
}

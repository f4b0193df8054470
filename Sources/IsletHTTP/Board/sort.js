// Orders of activities. Those that are equal stand by id, so that nothing changes places without a reason.

export const sortNames = {
    started: "Started",
    next: "Next deadline",
    changed: "Last change",
    state: "State",
    key: "Key",
    device: "Device",
    revision: "Revision",
};

const stateOrder = {pending: 0, active: 1, stale: 2, ended: 3, dismissed: 4};

const values = {
    started: (row) => row.startedAt ?? row.startDate ?? row.timestamp,
    next: (row) => row.next?.at,
    changed: (row) => row.$changedAt ?? row.timestamp,
    state: (row) => stateOrder[row.state],
    key: (row) => row.key ?? row.id,
    device: (row) => row.device,
    revision: (row) => row.revision,
};

const collator = new Intl.Collator("en", {numeric: true, sensitivity: "base"});

// Rows without the value stand last in either direction.
export function compareBy(name, descending) {
    const value = values[name];
    const turn = descending ? -1 : 1;
    return (one, other) => {
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

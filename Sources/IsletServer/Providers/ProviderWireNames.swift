// The contract's words for what happens to providers and their calls.

extension ProviderTable.CancelReason {
    var wireName: StaticString {
        switch self {
        case .timedOut: "timedOut"
        case .superseded: "superseded"
        case .removed: "removed"
        case .stopping: "stopping"
        }
    }
}

extension ProviderTable.DropReason {
    var wireName: StaticString {
        switch self {
        case .faults: "faults"
        case .silent: "silent"
        case .replaced: "replaced"
        case .unreachable: "unreachable"
        case .left: "left"
        }
    }
}

/// Says once that another process keeps a file of the journal locked, and once that it does not any more: such as
/// `sqlite3` in the hands of somebody who writes. Nothing is wrong with the file, so its lock is waited for until the
/// service stops.
struct LockWarning {
    private let onWarning: @Sendable (_ line: String) -> Void
    private var isHeld = false

    init(_ options: StoreOptions) { onWarning = options.onWarning }

    mutating func isHeld(_ reason: String) {
        if !isHeld { onWarning("another process has locked a file, and is waited for: \(reason)") }
        isHeld = true
    }

    mutating func isFree() {
        if isHeld { onWarning("the file that another process had locked is free again") }
        isHeld = false
    }
}

package import IsletCore

/// How fast subscribers are taken while others of them are being cut.
///
/// Who is cut comes again at once, with all of its topics, which libzmq takes before anybody can look: to take and to drop
/// them costs this thread some 30 ms. So for a while after a cut only a few are taken each second, whoever they are;
/// the others are shut before they have said anything, and come again.
package struct AdmissionPace {
    /// So many a second.
    package static let perSecond = 4
    /// So long after the last cut, in milliseconds.
    package static let afterCut: Milliseconds = 10_000

    static var limitInWords: String {
        "for \(afterCut / 1_000) s after one was cut, \(perSecond) are taken each second; they come again by themselves"
    }

    private var lastCut: Milliseconds?
    private var second = (begin: Milliseconds(0), taken: 0)
    /// How many were shut.
    package private(set) var shut: UInt64 = 0

    package init() {}

    /// A subscriber was cut. Monotonic milliseconds.
    package mutating func cut(at time: Milliseconds) { lastCut = time }

    /// Whether one more is taken. Monotonic milliseconds.
    package mutating func takes(at time: Milliseconds) -> Bool {
        guard let lastCut, time - lastCut < Self.afterCut else { return true }
        if time - second.begin >= 1_000 { second = (time, 0) }
        guard second.taken < Self.perSecond else {
            shut += 1
            return false
        }
        second.taken += 1
        return true
    }
}

/// The decimal number at the end of a `req`, and a hash of what stands before it.
struct RetryNumber: Equatable, Sendable, BitwiseCopyable {
    var stem: UInt64
    var number: UInt64

    /// nil where the last byte is no digit, or the number is 2^64 or more.
    init?(_ req: Span<UInt8>) {
        var start = req.count
        while start > 0, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(req[start - 1]) { start -= 1 }
        guard start < req.count else { return nil }
        var number: UInt64 = 0
        for index in start..<req.count {
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOverflow) = tens.addingReportingOverflow(UInt64(req[index] - UInt8(ascii: "0")))
            guard !isTooLarge, !isOverflow else { return nil }
            number = sum
        }
        self.number = number
        stem = FrameHash(of: req.extracting(..<start)).value
    }
}

/// The numbers that one client uses with one stem: whether they rise, and up to which they are forgotten.
struct RetrySeries: Sendable, BitwiseCopyable {
    /// Halved together where one reaches this, so that a client that changes its ways is believed in time.
    private static let maximumCount: UInt16 = 1_024
    /// A number that is less than this below the one before is no fall: a counter goes back to a number that was
    /// refused, or that a crash left unanswered. It does not go back further than this, since it has as many answers
    /// remembered at most (``RetryWindow/Limits/standard``): one that it used after the number is forgotten then, the
    /// number is at or below it, and the command is not executed.
    private static let farthestReturn: UInt64 = 65_536

    var stem: UInt64
    /// The number of the command that was executed last.
    private var last: UInt64
    /// One more than the highest number that is forgotten; 0 where none is.
    private var forgottenEnd: UInt64 = 0
    private var rises: UInt16 = 1
    private var falls: UInt16 = 0
    /// The client's count of uses when this one was used last.
    var lastUse: UInt32

    /// A series that begins with a number.
    init(_ number: RetryNumber, use: UInt32) {
        stem = number.stem
        last = number.number
        lastUse = use
    }

    /// Reads what ``write(to:)`` wrote.
    init(_ reader: inout ImageReader) throws(ImageError) {
        stem = try reader.integer()
        last = try reader.integer()
        forgottenEnd = try reader.integer()
        rises = try reader.integer()
        falls = try reader.integer()
        lastUse = try reader.integer()
    }

    func write(to writer: inout ImageWriter) {
        writer.write(stem)
        writer.write(last)
        writer.write(forgottenEnd)
        writer.write(rises)
        writer.write(falls)
        writer.write(lastUse)
    }

    /// Whether nothing is lost with it.
    var isForgettable: Bool { forgottenEnd == 0 }

    /// Whether the client counts up. Numbers drawn at random, those of orders, and those of two counters far apart fall
    /// every other time, and a new command may have any of them; so what is allowed for is the first fall, and one in
    /// five.
    private var isRising: Bool { Int(falls) * 4 <= Int(rises) + 3 }

    /// Whether a command with this number may have been executed and forgotten.
    func isAtOrBelowForgotten(_ number: UInt64) -> Bool { number < forgottenEnd && isRising }

    mutating func executed(_ number: UInt64, use: UInt32) {
        if number > last {
            rises += 1
        } else if last - number >= Self.farthestReturn {
            falls += 1
        }
        if max(rises, falls) >= Self.maximumCount {
            rises /= 2
            falls /= 2
        }
        last = number
        lastUse = use
    }

    mutating func forgot(_ number: UInt64) {
        forgottenEnd = max(forgottenEnd, number == .max ? .max : number + 1)
    }
}

/// One remembered pair of `client` and `req`. Plain bits; the bytes are in the payload store.
struct RetryEntry: BitwiseCopyable {
    let client: Slot
    let frameHash: FrameHash
    let reqCount: UInt8
    var state: State
    /// Domain time of the answer.
    var at: Instant
    /// The batch whose commit makes the answer true.
    var batch: UInt64
    /// The `req` and after it the answer.
    var bytes: PayloadHandle
    /// Neighbours in the list of all answers, oldest first.
    var older: Slot = .max
    var newer: Slot = .max
    /// The client's next younger answer.
    var nextOfClient: Slot = .max

    enum State: UInt8, BitwiseCopyable {
        case inFlight
        case answered
        /// It was executed, but the answer is too long to be kept.
        case answerNotKept
    }
}

/// That answers are remembered for longer than the window.
package struct RetryHold: Equatable, BitwiseCopyable {
    /// The domain time after which those were given, or their batches closed.
    package var after: Instant
    /// The domain time until when, at least.
    package var until: Instant

    package init(after: Instant = Instant(0), until: Instant = Instant(0)) {
        self.after = after
        self.until = until
    }
}

/// A client with remembered pairs, or with numbers of which some are forgotten.
struct RetryClient: BitwiseCopyable {
    /// A client that uses more stems than these loses the one that it has not used for longest.
    static let maximumSeries = 4

    let id: EntityID
    /// Its answers, oldest first.
    var oldest: Slot = .max
    var newest: Slot = .max
    var answers: UInt32 = 0
    var inFlight: UInt32 = 0
    /// Neighbours in the list of clients that have nothing remembered, oldest first.
    var olderIdle: Slot = .max
    var newerIdle: Slot = .max
    /// Whether its trace is to be written down.
    var isTraceChanged = false
    private var uses: UInt32 = 0
    private var series: InlineArray<4, RetrySeries?> = .init(repeating: nil)

    init(id: EntityID) {
        self.id = id
    }

    /// Reads what ``write(to:)`` wrote.
    init(id: EntityID, _ reader: inout ImageReader) throws(ImageError) {
        self.id = id
        uses = try reader.integer()
        for index in series.indices {
            series[index] = try reader.flag() ? try RetrySeries(&reader) : nil
        }
    }

    /// Writes the numbers that are known, and not the answers.
    func write(to writer: inout ImageWriter) {
        writer.write(uses)
        for index in series.indices {
            writer.write(series[index] != nil)
            if let known = series[index] { known.write(to: &writer) }
        }
    }

    var isIdle: Bool { answers == 0 && inFlight == 0 }

    /// Whether nothing is lost with it.
    var isForgettable: Bool {
        for index in series.indices {
            if let known = series[index], !known.isForgettable { return false }
        }
        return true
    }

    func isAtOrBelowForgotten(_ number: RetryNumber) -> Bool {
        for index in series.indices {
            if let known = series[index], known.stem == number.stem {
                return known.isAtOrBelowForgotten(number.number)
            }
        }
        return false
    }

    mutating func executed(_ number: RetryNumber) {
        uses &+= 1
        let place = place(of: number)
        if series[place]?.stem == number.stem {
            series[place]?.executed(number.number, use: uses)
        } else {
            series[place] = RetrySeries(number, use: uses)
        }
    }

    /// A number whose series had to make room for another is forgotten without a trace.
    mutating func forgot(_ number: RetryNumber) {
        let place = place(of: number)
        if series[place]?.stem == number.stem { series[place]?.forgot(number.number) }
    }

    /// Where the stem's series is, or else where a new one goes.
    private func place(of number: RetryNumber) -> Int {
        var place = 0
        for index in series.indices {
            guard let known = series[index] else { return index }
            if known.stem == number.stem { return index }
            // Wrapping, since a client may use more than 2³² numbers.
            if let chosen = series[place], uses &- known.lastUse > uses &- chosen.lastUse { place = index }
        }
        return place
    }
}

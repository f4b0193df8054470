import CAllocationCount

/// Measures operations that are done many times, and keeps what came out.
struct Meter {
    /// What is measured.
    enum Purpose {
        /// Times, of the best of many rounds.
        case time
        /// Instructions, by callgrind, of one round.
        case regions
    }

    /// One operation's figures.
    struct Row {
        let name: String
        /// Nanoseconds an operation in the first round, in which memory grows.
        var first = 0.0
        /// Nanoseconds an operation, without what else the machine did meanwhile.
        var best = 0.0
        /// Calls for memory by this thread for each operation, in the last round.
        var allocations = 0.0
        fileprivate var leastTimes: [Duration] = []
    }

    /// One operation's region, in the order in which callgrind writes them.
    struct Region {
        let name: String
        let allocations: Int
    }

    /// The operations are timed in slices of about so many; the sum of each slice's least time over all rounds is the
    /// operation's own cost.
    private static let sliceSize = 10_000

    let purpose: Purpose
    /// How often each operation is done in a round.
    let count: Int
    /// How many there are of what is operated on.
    let population: Int
    private(set) var rows: [Row] = []
    private(set) var regions: [Region] = []
    /// Other figures of the subject, with their units.
    private(set) var figures: [(name: String, value: Double)] = []
    private(set) var sink: UInt64 = 0

    init(_ purpose: Purpose, count: Int, population: Int? = nil) {
        self.purpose = purpose
        self.count = count
        self.population = population ?? count
    }

    /// Does an operation ``count`` times.
    ///
    /// - Parameters:
    ///   - step: so many operations are done by one call of `operation`.
    ///   - operation: gets the number of the first of them.
    @inline(never)
    mutating func measure(_ name: String, step: Int = 1, _ operation: (Int) throws -> Void) rethrows {
        switch purpose {
        case .regions:
            let allocations = allocation_count()
            measured_region_begins()
            for index in stride(from: 0, to: count, by: step) { try operation(index) }
            measured_region_ends()
            regions.append(Region(name: name, allocations: Int(allocation_count() - allocations)))
        case .time: try time(name, step, operation)
        }
    }

    /// Keeps a figure that is none of one operation.
    mutating func figure(_ name: String, _ value: Double) { figures.append((name, value)) }

    /// Uses a value, so that what made it is not optimised away.
    @inline(never)
    mutating func use(_ value: UInt64) { sink ^= value }

    private mutating func time(_ name: String, _ step: Int, _ operation: (Int) throws -> Void) rethrows {
        let clock = ContinuousClock()
        let size = max(step, Self.sliceSize / step * step)
        var times: [Duration] = []
        times.reserveCapacity(count / size + 1)
        let before = allocation_count()
        for begin in stride(from: 0, to: count, by: size) {
            let slice = stride(from: begin, to: min(begin + size, count), by: step)
            times.append(try clock.measure { for index in slice { try operation(index) } })
        }
        let allocations = allocation_count() - before
        let place = rows.firstIndex { $0.name == name } ?? rows.count
        if place == rows.count { rows.append(Row(name: name, first: perOperation(times), leastTimes: times)) }
        for (index, time) in times.enumerated() {
            rows[place].leastTimes[index] = min(rows[place].leastTimes[index], time)
        }
        rows[place].best = perOperation(rows[place].leastTimes)
        rows[place].allocations = Double(allocations) / Double(count)
    }

    private func perOperation(_ times: [Duration]) -> Double {
        times.reduce(.zero, +) / .nanoseconds(1) / Double(count)
    }
}

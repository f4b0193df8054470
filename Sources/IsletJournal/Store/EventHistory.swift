/// Finds stored events in the segments.
struct EventHistory {
    private let names: FolderNames
    private let options: StoreOptions
    private let segments: SegmentDirectory
    /// Open segments, the one that was used last at the end.
    private var open: [SegmentReader] = []
    /// At most this many are open at a time; each has three files, and 400 KiB of memory at most. Opening one that nobody has
    /// open costs 25 ms and more, since SQLite then reads its whole log.
    private static let openMaximum = max(1, min(16, FileSystem.maximumOpen / 24))
    /// A segment can be trimmed between the directory's answer and its opening.
    private static let attempts = 8
    /// Whether the present step has opened a segment.
    private var hasOpened = false

    init(names: FolderNames, options: StoreOptions, segments: SegmentDirectory) {
        self.names = names
        self.options = options
        self.segments = segments
    }

    /// Goes on with a read, as far as it takes the opening of one segment; nil: it is not through.
    mutating func advance(_ read: inout ReadUnderWay) -> JournalReadResult.Outcome? {
        let request = read.request
        hasOpened = false
        read.beginStep()
        var lack: String?
        for _ in 0..<Self.attempts {
            let first = segments.first
            closeTrimmed()
            do {
                switch request.kind {
                case .stream(let seq): return try stream(request.app, after: seq, &read)
                case .chain(let seq): return try chain(request.app, last: seq, &read)
                }
            } catch SQLiteError.noDescriptor(let reason), SQLiteError.full(let reason) {
                // What is open here is given back, in case that it is the file which is missing.
                open.removeAll()
                lack = reason
                continue
            } catch SQLiteError.cannotOpen {
                // It was trimmed, or this process may have no more files.
                open.removeAll()
                continue
            } catch {
                // It was trimmed while it was opened or read: its files go one after another.
                if segments.first != first { continue }
                let app = String(decoding: request.app, as: UTF8.self)
                options.onWarning("stored events of \(app) cannot be read: \(error)")
                return unreadable(read)
            }
        }
        if let lack {
            options.onWarning("stored events of \(String(decoding: request.app, as: UTF8.self)) cannot be read yet: \(lack)")
            return read.found.events.isEmpty ? .notNow : .events(read.found.events)
        }
        options.onWarning("a segment with events of \(String(decoding: request.app, as: UTF8.self)) cannot be opened")
        return unreadable(read)
    }

    /// Closes those that were trimmed: an open file keeps its bytes on the disk.
    mutating func closeTrimmed() {
        guard let first = segments.first else { return }
        open.removeAll { $0.number < first }
    }

    /// What can be said where a file cannot be read: what was found before, or that events are gone. Not that there are
    /// none.
    private func unreadable(_ read: ReadUnderWay) -> JournalReadResult.Outcome {
        switch read.request.kind {
        case .stream(let seq) where read.found.events.isEmpty:
            .tooOld(oldest: segments.firstSeq(of: read.request.app, behind: seq &+ 1))
        case .stream, .chain: .events(read.found.events)
        }
    }

    /// Whether others come before a read that needs this segment: it would be the second one that its step opens.
    private func givesWay(_ read: ReadUnderWay, before segment: Int) -> Bool {
        hasOpened && read.hasProgressed && !open.contains { $0.number == segment }
    }

    private mutating func stream(
        _ app: [UInt8], after seq: UInt64, _ read: inout ReadUnderWay
    ) throws -> JournalReadResult.Outcome? {
        var expected = (read.found.events.last?.seq ?? seq) &+ 1
        var segment: Int
        switch segments.place(of: app, seq: expected) {
        case .none: return .events(read.found.events)
        case .tooOld(let oldest): return read.found.outcome(behind: oldest)
        case .segment(let number): segment = number
        }
        var gap: UInt64?
        while !read.found.isFull, gap == nil {
            if givesWay(read, before: segment) { return nil }
            try reader(segment).forEachRow(of: app, from: expected) { range, body, recovery in
                try PackedRow.forEachEvent(body: body, recovery: recovery, count: try range.count()) { event in
                    let seq = range.first + UInt64(event.index)
                    if seq < expected { return true }
                    guard seq == expected else {
                        gap = seq
                        return false
                    }
                    guard read.found.append(seq, event, body, recovery) else { return false }
                    expected += 1
                    return true
                }
                return !read.found.isFull && gap == nil
            }
            guard let next = segments.next(after: segment, of: app) else { break }
            segment = next
        }
        if let gap, read.found.events.isEmpty { return .tooOld(oldest: gap) }
        return .events(read.found.events)
    }

    private mutating func chain(
        _ app: [UInt8], last: UInt64, _ read: inout ReadUnderWay
    ) throws -> JournalReadResult.Outcome? {
        var seq = read.found.events.last?.previous ?? last
        while seq > 0, !read.found.isFull {
            switch segments.place(of: app, seq: seq) {
            case .none: return .events(read.found.events)
            case .tooOld(let oldest): return read.found.outcome(behind: oldest)
            case .segment(let number):
                if givesWay(read, before: number) { return nil }
                let previous = try follow(app, seq, in: number, &read.found)
                guard let previous, previous < seq else { return .events(read.found.events) }
                seq = previous
            }
        }
        return .events(read.found.events)
    }

    /// Adds one row's part of a chain.
    ///
    /// - Returns: The next sequence number of the chain; nil: it ends here.
    private mutating func follow(
        _ app: [UInt8], _ seq: UInt64, in segment: Int, _ answer: inout EventCollection
    ) throws -> UInt64? {
        var next: UInt64?
        try reader(segment).forEachRow(of: app, from: seq) { range, body, recovery in
            guard range.first <= seq, seq <= range.last else { return false }
            var parts: [PackedRow.Event] = []
            let count = Int(seq - range.first) + 1
            try PackedRow.forEachEvent(body: body, recovery: recovery, count: try range.count()) { event in
                parts.append(event)
                return parts.count < count
            }
            var wanted = seq
            while wanted >= range.first, wanted > 0 {
                let event = parts[Int(wanted - range.first)]
                guard answer.append(wanted, event, body, recovery), event.previous < wanted else { return false }
                wanted = event.previous
            }
            next = wanted
            return false
        }
        return next
    }

    private mutating func reader(_ segment: Int) throws(SQLiteError) -> SegmentReader {
        if let index = open.firstIndex(where: { $0.number == segment }) {
            let reader = open.remove(at: index)
            open.append(reader)
            return reader
        }
        if open.count >= Self.openMaximum { open.removeFirst() }
        hasOpened = true
        let reader = try SegmentReader(path: names.segment(segment), number: segment)
        try reader.keepLittle()
        open.append(reader)
        return reader
    }
}

/// A read of stored events, and what it has found so far.
struct ReadUnderWay {
    let request: JournalRead
    fileprivate var found: EventCollection
    /// How much was found before the present step.
    private var foundBefore = 0

    init(_ request: JournalRead) {
        self.request = request
        found = EventCollection(rows: request.maximumRows, bytes: request.maximumBytes)
    }

    fileprivate mutating func beginStep() { foundBefore = found.events.count }

    /// Whether the present step has found anything: the next one goes on behind it, and not where this one began.
    fileprivate var hasProgressed: Bool { found.events.count > foundBefore }
}

/// Events for an answer, up to its limits.
struct EventCollection {
    private(set) var events: [StoredEvent] = []
    private(set) var isFull = false
    private let maximumRows: Int
    private var bytes: Int

    init(rows: Int, bytes: Int) {
        maximumRows = rows
        self.bytes = bytes
        isFull = rows < 1
    }

    /// What to say where events before the one with this number are not kept any more.
    func outcome(behind oldest: UInt64) -> JournalReadResult.Outcome {
        events.isEmpty ? .tooOld(oldest: oldest) : .events(events)
    }

    /// Takes an event; false: there is no room for it.
    mutating func append(
        _ seq: UInt64, _ event: PackedRow.Event, _ body: Span<UInt8>, _ recovery: Span<UInt8>
    ) -> Bool {
        let size = event.json.count + event.topic.count
        if isFull { return false }
        if !events.isEmpty, size > bytes {
            isFull = true
            return false
        }
        bytes -= size
        events.append(
            StoredEvent(
                seq: seq, previous: event.previous, topic: Self.copy(recovery, event.topic),
                json: Self.copy(body, event.json), image: Self.copy(recovery, event.image)))
        isFull = events.count >= maximumRows
        return true
    }

    private static func copy(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        unsafe bytes.extracting(range).withUnsafeBytes { unsafe [UInt8]($0) }
    }
}

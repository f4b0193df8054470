import IsletCore
import IsletOracle
import IsletServer

/// Reads with a `minSeq`.
extension Simulation {
    /// How long a read waits that names no `ttl`, in real milliseconds (contract, `minSeq`).
    static let patience: Int64 = 5_000

    /// What becomes of a read whose stream may not be so far yet; nil for all that are answered at once.
    ///
    /// How far the stream is within a turn only the service knows, because events of controls are nobody's to foretell. So a
    /// read that need not wait is judged as one that may have.
    func wait(_ sent: SentCommand) -> Expectation? {
        guard case .get(.id(let id)) = sent.command.operation, let seq = sent.minSeq,
            seq > ledger.seq(sent.command.app)
        else { return nil }
        tally.waits += 1
        let read = AwaitedRead(
            id: id, seq: seq, wasThere: isThere(id, sent.command.app), since: clock.elapsed,
            wait: sent.ttl ?? Self.patience, fullDisks: tally.fullDisks)
        return oracle.expect(.awaited(read), sent.command)
    }

    /// It shows what was true at the place in the stream that it names, or it waited in vain.
    func judge(
        _ told: inout [String: JSON], _ read: AwaitedRead, _ sent: SentCommand, _ complain: (Bool, String) -> Void
    ) {
        let app = sent.command.app
        let published = ledger.published[app]?.seq ?? 0
        complain(told.removeValue(forKey: "req") == sent.command.req.map { .string($0) }, "another req")
        guard told["ok"] == .bool(true) else {
            switch told["error"]?["code"]?.string {
            case "expired":
                complain(clock.elapsed - read.since >= read.wait, "it waited \(clock.elapsed - read.since) ms only")
                let inTime = ledger.line(app, read.seq)?.publishedAt.map { $0 < read.since + read.wait } ?? false
                complain(!inTime, "the stream was so far in time")
            case "notFound": complain(!read.wasThere || !isThere(read.id, app), "it is there")
            case "unavailable": complain(tally.fullDisks > read.fullDisks, "the disk was not full")
            default: complain(false, "it may not be refused so")
            }
            return
        }
        let seq = Int(told["seq"]?.integer ?? -1)
        complain(seq >= read.seq, "it was to wait for \(read.seq)")
        complain(seq <= published, "seq \(seq) is not published")
        // By the time of the answer another one may have its id, which had no event until then.
        let shapes = oracle.handles(id: read.id).compactMap { handle in
            ledger.revision(of: handle, app, through: seq)
                .flatMap { oracle.shape(handle, revision: $0) }.map { (handle, $0) }
        }
        guard let (handle, shape) = shapes.last, let entity = told["activity"]?.object else {
            return complain(false, "it was not there at \(seq)")
        }
        let wanted = asFollowed(oracle.entity(handle, shape, isRead: true))
        complain(asFollowed(entity.asFollowed) == wanted, "at \(seq) it was \(JSON.object(wanted).text)")
        complain(told.keys.sorted() == ["activity", "ok", "seq"], "members that nobody expects")
    }

    private func isThere(_ id: String, _ app: String) -> Bool {
        oracle.handle(id: id).map { oracle.app($0) == app && oracle.known.contains($0) && isRetained($0) } ?? false
    }

    /// Whether an activity is not to be forgotten yet. A clock that travels, and waits on its way for a provider, forgets
    /// before the command is executed that moves it.
    func isRetained(_ handle: Handle) -> Bool {
        oracle.isRetained(handle, at: domain.now)
    }
}

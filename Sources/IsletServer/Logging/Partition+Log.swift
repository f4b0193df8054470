import IsletCore
import IsletProtocol
import Logging

/// The log of commands: one id through all lines of a command.
extension Partition {
    /// What a command is called in the log: `client/req`, `req`, or where it names none its number since the start.
    static func logID(_ envelope: Envelope, req: [UInt8], number: UInt64) -> String {
        guard !req.isEmpty else { return "#\(number)" }
        let req = String(decoding: req, as: UTF8.self)
        return envelope.client.map { "\($0)/\(req)" } ?? req
    }

    func logID(_ envelope: Envelope, _ frame: Span<UInt8>) -> String {
        Self.logID(envelope, req: envelope.req.map { frame.bytes($0) } ?? [], number: statistics.commands)
    }

    /// A command was executed, or refused as none.
    ///
    /// - Parameter frame: of its `op`, `app` and `id` is spoken, and of nothing else.
    func tell(_ result: FrameResult, _ envelope: Envelope, _ frame: Span<UInt8>) {
        var metadata: Logger.Metadata = ["id": "\(logID(envelope, frame))"]
        // What could be decoded scans again; of what could not, nothing is told but why.
        try? JSONScanner.scanObject(frame) { member in
            for name: StaticString in ["op", "app"] where member.name.equals(name, in: frame) {
                metadata["\(name)"] = Self.text(member.value, in: frame)
            }
            if member.name.equals("id", in: frame) { metadata["entity"] = Self.text(member.value, in: frame) }
        }
        tell(result, metadata)
    }

    /// A command that waited was answered.
    func tell(_ result: FrameResult, answering job: Job) {
        tell(result, ["id": "\(Self.logID(job.envelope, req: job.req, number: job.number))"])
    }

    private func tell(_ result: FrameResult, _ metadata: Logger.Metadata) {
        var metadata = metadata
        switch result {
        case .silent: log.logger.debug("command taken", metadata: metadata)
        case .withheld, .later: log.logger.debug("command waits", metadata: metadata)
        case .answered(let range):
            outbound.writer.withSpan { bytes in
                for (name, value) in Self.outcome(bytes.extracting(range)) { metadata[name] = value }
            }
            log.logger.debug("command answered", metadata: metadata)
        }
    }

    /// What an answer says of what became of the command.
    private static func outcome(_ answer: Span<UInt8>) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        try? JSONScanner.scanObject(answer) { member in
            for name: StaticString in ["outcome", "reason", "seq"] where member.name.equals(name, in: answer) {
                metadata["\(name)"] = text(member.value, in: answer)
            }
            if member.name.equals("ok", in: answer), member.value.kind == .false { metadata["outcome"] = "refused" }
            guard member.name.equals("error", in: answer), member.value.kind == .object else { return }
            try? JSONScanner.scanObject(answer, at: member.value.range) { part in
                if part.name.equals("code", in: answer) { metadata["code"] = text(part.value, in: answer) }
            }
        }
        return metadata
    }

    /// A short string or a number; what is longer than any name of the contract is not repeated.
    private static func text(_ value: JSONValue, in frame: Span<UInt8>) -> Logger.MetadataValue {
        let range = value.kind == .string ? value.text.range : value.range
        guard range.count <= 128 else { return "…" }
        return "\(String(decoding: frame.bytes(range), as: UTF8.self))"
    }

    // MARK: Messages, events, commits

    /// The message in ``inbound`` is handled.
    func tellMessage() {
        let peer = inbound.routeCount > 0 ? inbound.frame(0).map { String($0, radix: 16) }.joined(separator: ".") : "-"
        log.logger.trace("message", metadata: ["peer": "\(peer)", "frames": "\(inbound.commands.count)"])
    }

    /// An event was made.
    func tellEvent(topic: Span<UInt8>, seq: UInt64) {
        var metadata: Logger.Metadata = [
            "topic": "\(String(decoding: Array(topic), as: UTF8.self))", "seq": "\(seq)",
        ]
        if let presentID { metadata["id"] = "\(presentID)" }
        log.logger.trace("event", metadata: metadata)
    }

    /// A batch is committed.
    func tellCommit(_ number: UInt64, microseconds: Int) {
        log.logger.trace("commit", metadata: ["batch": "\(number)", "took": "\(microseconds) us"])
    }

    /// A provider came or came back.
    func tellProvider(_ provider: EntityID, kinds: Int) {
        log.logger.info("provider registered", metadata: ["provider": "\(provider)", "kinds": "\(kinds)"])
    }

    /// A provider is gone.
    func tellProvider(_ provider: EntityID?, droppedFor reason: ProviderTable.DropReason) {
        var metadata: Logger.Metadata = ["reason": "\(reason.wireName)"]
        if let provider { metadata["provider"] = "\(provider)" }
        // Somebody has to look at a provider that answers wrongly, and at one that died.
        let level: Logger.Level =
            switch reason {
            case .faults, .silent: .warning
            case .replaced, .unreachable, .left: .info
            }
        log.logger.log(level: level, "provider dropped", metadata: metadata)
    }
}

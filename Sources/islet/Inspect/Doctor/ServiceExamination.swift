import CSystemInfo
import Glibc
import IsletClient
import IsletFilter
import ZeroMQ

/// The service itself: whether it can be reached everywhere, and what it says of itself.
struct ServiceExamination {
    let service: ServiceOptions

    /// How far the service's time may be from the wall clock, beside what the answer took, in milliseconds.
    private static let offsetMax: Int64 = 250
    /// The patience for each answer.
    private static let patience = Duration.seconds(3)

    /// What is found, and the directory of the service's files, where it says one.
    func examine() async -> (findings: [DoctorFinding], directory: String?) {
        do {
            return try await service.withConnection(.events, checksStreams: false) { connection in
                let begun = ContinuousClock.now
                let answer = try await connection.send(
                    Command("service.info"), timeout: min(service.timeout.duration, Self.patience))
                let time = ContinuousClock.now - begun
                let info = answer["info"]?.object ?? [:]
                let foreign = await service.foreignStreams(of: connection, bulk: true)
                let findings =
                    [reached(info, in: time), version(info), durability(info), serviceClock(info, within: time)]
                    + [await events(connection, foreign.events), bulk(connection, foreign.bulk), http(info)]
                return (findings.compactMap(\.self), info["data"]?.string)
            }
        } catch {
            return ([unreachable(Failure(error)?.text ?? "\(error)")], nil)
        }
    }

    private func reached(_ info: RawObject, in time: Duration) -> DoctorFinding {
        let (seconds, attoseconds) = time.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let uptime = info["uptime"]?.integer.map { ", up \(TimeText.span($0))" } ?? ""
        let span = SpanText.text(microseconds, microseconds: true)
        return .ok(
            "service", "\(service.endpoints.commands) answers in \(span)\(uptime)",
            ["unit": .string("us"), "answer": .integer(microseconds)])
    }

    private func version(_ info: RawObject) -> DoctorFinding? {
        guard let version = info["version"]?.string, version != ClientVersion.text else { return nil }
        return .warn(
            "serviceVersion", "the service is islet \(version), and this command is \(ClientVersion.text)",
            advice: "start the service again after an upgrade; use the command that belongs to it",
            ["service": .string(version), "command": .string(ClientVersion.text)])
    }

    private func durability(_ info: RawObject) -> DoctorFinding {
        let guarantee = info["guarantee"]?.string ?? "?"
        let figures: RawObject = ["guarantee": .string(guarantee)]
        if info["journal"]?.object?["isFull"]?.bool == true {
            return .fail(
                "durability", "its disk is full: changes are refused", advice: "make room; it goes on by itself",
                figures)
        }
        switch guarantee {
        case "full": return .ok("durability", "what it acknowledges survives loss of power", figures)
        case "memory":
            return .warn(
                "durability", "it keeps everything in memory only: a restart forgets all",
                advice: "start it with --store sqlite", figures)
        case _:
            return .warn(
                "durability", "its guarantee is \(guarantee): the last changes may not survive loss of power",
                advice: "start it with --sync full where that matters, on a disk that keeps what it says", figures)
        }
    }

    private func serviceClock(_ info: RawObject, within time: Duration) -> DoctorFinding? {
        guard let clock = info["clock"]?.object, let now = clock["now"]?.integer else { return nil }
        let kind = clock["kind"]?.string ?? "?"
        guard kind == "system" else {
            return .warn(
                "serviceClock", "its time is \(TimeText.full(now)) by a \(kind) clock",
                advice: "good for tests; in production start it with --clock system", ["kind": .string(kind)])
        }
        let offset = now.subtractingClamped(ClockDrift.wallClock)
        let figures: RawObject = ["kind": .string(kind), "offset": .integer(offset)]
        guard offset.magnitude > UInt64(Self.offsetMax + Span(time).milliseconds) else {
            return .ok("serviceClock", "its time is the wall clock's", figures)
        }
        let side = offset > 0 ? "ahead of" : "behind"
        return .warn(
            "serviceClock", "its time is \(TimeText.span(abs(offset))) \(side) the wall clock",
            advice: offset > 0
                ? "the wall clock was set back; its time stands still until that has caught up, and timers wait"
                : "it is overloaded, or the wall clock was set forward a moment ago: look again, then islet stats",
            figures)
    }

    /// What to do where streams are another service's.
    private static let adviceOnTunnels = "through a tunnel, let the events and the bulk socket pass too"

    /// Whether a subscriber gets in.
    ///
    /// - Parameter foreign: what is wrong where they are another service's.
    private func events(_ connection: IsletConnection, _ foreign: IsletError?) async -> DoctorFinding {
        let url = connection.endpoints.events
        if let foreign { return .fail("events", foreign.description, advice: Self.adviceOnTunnels) }
        let isJoined = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    for try await delivery in try await connection.events("\u{1}/") where delivery == .joined {
                        return true
                    }
                } catch {
                    return false
                }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        return isJoined
            ? .ok("events", "\(url) lets subscribers in")
            : .fail("events", "\(url) does not answer a subscriber", advice: "is it named rightly (--events)?")
    }

    /// Whether snapshots and replays can be had.
    ///
    /// - Parameter foreign: what is wrong where they are another service's.
    private func bulk(_ connection: IsletConnection, _ foreign: IsletError?) -> DoctorFinding {
        let url = connection.endpoints.bulk
        if let foreign { return .fail("bulk", foreign.description, advice: Self.adviceOnTunnels) }
        return Listener.isThere(url)
            ? .ok("bulk", "\(url) listens")
            : .fail("bulk", "\(url) does not listen", advice: "look at the service's log")
    }

    /// How the service says that it is; nil where it says it nowhere.
    private func http(_ info: RawObject) -> DoctorFinding? {
        guard let url = info["endpoints"]?.object?["http"]?.string else { return nil }
        let authority = String(url.hasPrefix("http://") ? url.dropFirst(7) : url[...])
        let health = HTTPQuestion(authority: authority, path: "/healthz").answer()
        let readiness = HTTPQuestion(authority: authority, path: "/readyz").answer()
        return Self.http(authority, health: health, readiness: readiness)
    }

    /// - Parameters:
    ///   - health: what `/healthz` answers.
    ///   - readiness: what `/readyz` answers.
    static func http(
        _ authority: String, health: HTTPQuestion.Answer?, readiness: HTTPQuestion.Answer?
    ) -> DoctorFinding {
        guard let health else {
            return .fail(
                "http", "http://\(authority) does not answer as the service's HTTP endpoint does",
                advice: "look at the service's log; what listens there: `ss -ltnp`")
        }
        var figures: RawObject = ["health": .integer(health.status)]
        figures["readiness"] = readiness.map { .integer($0.status) }
        let status = health.object?["status"]?.string ?? "no JSON"
        guard health.status == 200 else {
            return .fail(
                "http", "http://\(authority)/healthz answers \(health.status): \(status.printable)",
                advice: "the service does not answer in time: islet stats, and its log", figures)
        }
        guard readiness?.status == 200 else {
            let reason = readiness?.object?["reason"]?.string ?? "no answer"
            return .fail(
                "http", "http://\(authority) is well, but /readyz says: \(reason.printable)",
                advice: "changes are refused: islet check says what is wrong", figures)
        }
        return .ok("http", "http://\(authority) is well and takes commands (/healthz, /readyz)", figures)
    }

    private func unreachable(_ text: String) -> DoctorFinding {
        let url = service.endpoints.commands
        if let denial = Listener.denial(url) {
            return .fail("service", denial, advice: "run this as the service's user, or as one of its group")
        }
        if Listener.isThere(url) {
            return .fail(
                "service", "something listens at \(url), but does not answer as a service does",
                advice: "it may hang, have no connection left (islet_connections of /metrics), or be another program: "
                    + "`ss -ltnp` names it; else look at the service's log")
        }
        return .fail(
            "service", "nothing listens at \(url) (\(text))",
            advice: "start it (islet serve, systemctl start islet), or name where it is: --commands, ISLET_COMMANDS")
    }
}

/// Whether somebody listens at an endpoint.
enum Listener {
    private static let patience = timeval(tv_sec: 2, tv_usec: 0)

    /// What to ask oneself where nobody answers at an endpoint.
    static func question(_ url: String) -> String { denial(url) ?? "is the service running?" }

    /// That this user may not use the file of an endpoint; nil where that is not so, or it has none.
    static func denial(_ url: String) -> String? {
        guard url.hasPrefix("ipc://"), !url.hasPrefix("ipc://@"), access(String(url.dropFirst(6)), W_OK) != 0,
            errno == EACCES
        else { return nil }
        return "\(url) may not be used by this user: Permission denied"
    }

    /// - Parameter url: `tcp://host:port`, `ipc://path`, `ipc://@name`; of any other kind nothing can be said, and it is taken to be there.
    static func isThere(_ url: String) -> Bool {
        guard url.hasPrefix("tcp://"), let colon = url.lastIndex(of: ":") else {
            guard url.hasPrefix("ipc://") else { return true }
            return isListening(at: String(url.dropFirst(6)))
        }
        let host = url[url.index(url.startIndex, offsetBy: 6)..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
        guard let descriptor = connected(String(host), String(url[url.index(after: colon)...])) else { return false }
        close(descriptor)
        return true
    }

    /// A connection, which is the caller's to close; nil where nobody listens.
    static func connected(_ host: String, _ port: String) -> Int32? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &found) == 0 else { return nil }
        defer { freeaddrinfo(found) }
        // The list stands until it is freed, and getaddrinfo has filled each entry.
        var next = found
        while let address = next?.pointee {
            let descriptor = socket(address.ai_family, address.ai_socktype, 0)
            if descriptor >= 0 {
                var patience = patience
                setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
                if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
                close(descriptor)
            }
            next = address.ai_next
        }
        return nil
    }
}

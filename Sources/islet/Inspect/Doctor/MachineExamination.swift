import CSystemInfo
import Glibc
import IsletClient
import IsletFilter
import IsletJournal
import ZeroMQ

/// What the machine gives to a process: libraries, limits, memory, the time.
enum MachineExamination {
    /// The contract's 1 024 connections, and files beside them.
    private static let filesWanted: UInt64 = 4_096
    private static let filesNeeded: UInt64 = 1_024
    private static let memoryWanted: Int64 = 512 << 20
    private static let memoryNeeded: Int64 = 128 << 20

    static func versions() -> DoctorFinding {
        let (zeroMQ, sqlite) = (LibraryVersion.zeroMQ, SQLiteVersion.text)
        return .ok(
            "versions", "islet \(ClientVersion.text), libzmq \(zeroMQ), SQLite \(sqlite)",
            ["islet": .string(ClientVersion.text), "libzmq": .string(zeroMQ), "sqlite": .string(sqlite)])
    }

    /// How many files and connections a service that is started here may have.
    static func openFiles() -> DoctorFinding {
        guard let limit = OpenFileLimit.current else {
            return .warn("openFiles", "the limit cannot be read", advice: "look at `ulimit -n`")
        }
        return openFiles(limit)
    }

    static func openFiles(_ limit: OpenFileLimit) -> DoctorFinding {
        let text = "a service may have \(grouped(limit.forService)) files and connections"
        let figures: RawObject = ["soft": .integer(limit.soft), "hard": .integer(limit.hard)]
        let advice = "`ulimit -Hn 65536` before the start, or LimitNOFILE=65536 in the service's unit"
        if limit.forService < filesNeeded { return .fail("openFiles", text, advice: advice, figures) }
        if limit.forService < filesWanted { return .warn("openFiles", text, advice: advice, figures) }
        return .ok("openFiles", text, figures)
    }

    /// How much memory is free, by the machine or by the control group, whichever is less.
    static func memory() -> DoctorFinding {
        memory(
            available: SmallFile.text("/proc/meminfo").flatMap(available), limit: groupLimit())
    }

    static func memory(available: Int64?, limit: Int64?) -> DoctorFinding {
        guard let least = [available, limit].compactMap(\.self).min() else {
            return .warn("memory", "how much is free cannot be read", advice: "look at `free -m`")
        }
        var figures = RawObject()
        figures["available"] = available.map { .integer($0) }
        figures["limit"] = limit.map { .integer($0) }
        let limited = limit.map { ", limited to \(ByteText.text($0))" } ?? ""
        let text = (available.map { "\(ByteText.text($0)) available" } ?? "unknown") + limited
        let advice = "about 1 GiB serves a million activities; give the machine or the unit (MemoryMax) more"
        if least < memoryNeeded { return .fail("memory", text, advice: advice, figures) }
        if least < memoryWanted { return .warn("memory", text, advice: advice, figures) }
        return .ok("memory", text, figures)
    }

    /// `MemAvailable` of /proc/meminfo, in bytes.
    static func available(_ meminfo: String) -> Int64? {
        let line = meminfo.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }.map { $0 << 10 }
    }

    /// What the control group allows, in bytes; nil where it allows everything.
    private static func groupLimit() -> Int64? {
        let group = SmallFile.text("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::") }
        guard let path = group?.dropFirst(3),
            let text = SmallFile.text("/sys/fs/cgroup\(path)/memory.max")
        else { return nil }
        return Int64(text.prefix { $0.isNumber })
    }

    /// Whether something keeps the clock right, and whether it was set while this looked on.
    ///
    /// - Parameter drift: by how many milliseconds the wall clock has gone faster than the one that is never set.
    static func clock(drift: Int64) -> DoctorFinding {
        var state = timex()
        let result = adjtimex(&state)
        return clock(
            drift: drift, isSynchronised: result < 0 ? nil : state.status & STA_UNSYNC == 0,
            maximumError: Int64(state.maxerror))
    }

    /// - Parameter maximumError: the kernel's estimate, in microseconds.
    static func clock(drift: Int64, isSynchronised: Bool?, maximumError: Int64) -> DoctorFinding {
        var figures: RawObject = ["drift": .integer(drift)]
        figures["isSynchronised"] = isSynchronised.map(RawJSON.bool)
        if isSynchronised == true { figures["maximumError"] = .integer(maximumError) }
        if abs(drift) > driftMax {
            return .warn(
                "clock", "the wall clock was set by \(TimeText.span(drift)) while this looked on",
                advice: "deadlines follow the wall clock; let a time service slew it instead of setting it", figures)
        }
        switch isSynchronised {
        case true:
            let error = SpanText.text(maximumError, microseconds: true)
            return .ok("clock", "synchronised, wrong by \(error) at most", figures)
        case false:
            return .warn(
                "clock", "nothing synchronises the wall clock",
                advice: "start a time service (systemd-timesyncd, chrony): deadlines follow this clock", figures)
        case nil:
            return .warn(
                "clock", "the kernel does not tell whether the clock is synchronised",
                advice: "look at `timedatectl`", figures)
        }
    }

    /// More than a time service slews in the while that this takes, in milliseconds.
    private static let driftMax: Int64 = 50

    private static func grouped(_ number: UInt64) -> String {
        number == UInt64.max ? "any number of" : RecoveryText.grouped(Int(clamping: number))
    }
}

/// Files of the kernel, which are small.
enum SmallFile {
    private static let bytesMax = 65_536

    /// The text; nil where it cannot be read.
    static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < bytesMax {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// How much faster the wall clock goes than the clock that nobody sets.
struct ClockDrift {
    private let wall: Int64
    private let steady: ContinuousClock.Instant

    /// Begins to look.
    init() {
        wall = Self.wallClock
        steady = .now
    }

    /// In milliseconds, since it began to look.
    var milliseconds: Int64 { Self.wallClock - wall - Span(ContinuousClock.now - steady).milliseconds }

    /// Milliseconds since 1970.
    static var wallClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

import CSystemInfo
import Glibc
import IsletClient

/// The disk under the service's files: its kind, its room, and how long it takes to keep something.
struct DiskExamination {
    /// The service's directory, which may not be there yet.
    let directory: String
    /// Whether a service says that its files are there now.
    var isInUse = false

    private static let roomWanted: Int64 = 10 << 30
    private static let roomNeeded: Int64 = 1 << 30
    /// What a commit writes at least.
    private static let blockSize = 4_096
    private static let syncsMax = 50
    private static let syncTimeMax = Duration.seconds(2)
    /// Microseconds of the median beyond which commits are slow, and beyond which they are too slow.
    private static let slowSync: Int64 = 20_000
    private static let tooSlowSync: Int64 = 250_000
    /// No disk keeps anything faster than this, in microseconds.
    private static let implausibleSync: Int64 = 15

    /// All of it, in order.
    func findings() -> [DoctorFinding] {
        if isInUse, access(directory, F_OK) != 0 { return [elsewhere(errno)] }
        guard let present else {
            return [.fail("disk", "neither \(directory) nor what is above it is there", advice: "name it with --data")]
        }
        return [kind(present), room(present), sync(present)]
    }

    /// What is said instead of a disk that is not the service's.
    private func elsewhere(_ code: Int32) -> DoctorFinding {
        guard code == ENOENT else {
            return .warn(
                "files", "cannot look at \(directory): \(String(cString: strerror(code)))",
                advice: "run this as the service's user")
        }
        return .warn(
            "files", "the service keeps its files in \(directory), which is not here",
            advice: "run this where the service runs: in its container, or at the other end of the tunnel")
    }

    /// The directory, or the nearest one above it that is there.
    private var present: String? {
        var path = directory
        while access(path, F_OK) != 0 {
            guard path.count > 1, let slash = path.lastIndex(of: "/") else { return nil }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return path
    }

    private func kind(_ path: String) -> DoctorFinding {
        var system = statfs()
        guard statfs(path, &system) == 0 else {
            return .warn("files", "cannot look at \(path): \(Self.reason)", advice: "run this as the service's user")
        }
        let place = path == directory ? directory : "\(directory) (to be made at the first start)"
        return Self.kind(UInt64(bitPattern: Int64(system.f_type)), place)
    }

    /// - Parameter type: the magic number of statfs(2).
    static func kind(_ type: UInt64, _ place: String) -> DoctorFinding {
        let name = names[type & 0xFFFF_FFFF]
        let figures: RawObject = ["fileSystem": .string(name ?? "0x" + String(type, radix: 16))]
        let text = "\(place), on \(name ?? "a file system that is not known here")"
        switch name {
        case "tmpfs", "ramfs":
            return .fail(
                "files", text, advice: "nothing there survives a reboot: choose a directory on a disk", figures)
        case "NFS", "SMB", "FUSE", "9P":
            return .warn(
                "files", text, advice: "locks and syncs of such file systems are not to be relied on: use a local disk",
                figures)
        case _: return .ok("files", text, figures)
        }
    }

    private static let names: [UInt64: String] = [
        0x0102_1994: "tmpfs", 0x8584_58F6: "ramfs", 0x6969: "NFS", 0xFF53_4D42: "SMB", 0xFE53_4D42: "SMB",
        0x6573_5546: "FUSE", 0x0102_1997: "9P", 0xEF53: "ext4", 0x5846_5342: "XFS", 0x9123_683E: "Btrfs",
        0x2FC1_2FC1: "ZFS", 0x794C_7630: "overlayfs", 0xF2F5_2010: "F2FS",
    ]

    private func room(_ path: String) -> DoctorFinding {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else {
            return .warn("room", "cannot look at \(path): \(Self.reason)", advice: "run this as the service's user")
        }
        return Self.room(
            bytes: Int64(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize)), files: Int64(system.f_favail),
            hasFiles: system.f_files > 0)
    }

    /// - Parameter hasFiles: whether the file system counts files at all.
    static func room(bytes: Int64, files: Int64, hasFiles: Bool) -> DoctorFinding {
        let text =
            "\(ByteText.text(bytes)) free" + (hasFiles && files < 100 ? ", but room for \(files) files only" : "")
        let figures: RawObject = ["bytes": .integer(bytes), "files": .integer(files)]
        let advice =
            "a full disk stops all changes; the journal alone takes up to 8 GiB by default (islet journal stats)"
        if bytes < roomNeeded || hasFiles && files < 100 { return .fail("room", text, advice: advice, figures) }
        if bytes < roomWanted { return .warn("room", text, advice: advice, figures) }
        return .ok("room", text, figures)
    }

    /// Writes and syncs small blocks to a file that has no name any more, so that nothing is left behind.
    private func sync(_ path: String) -> DoctorFinding {
        let name = "\(path)/.islet-doctor-\(getpid())"
        let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            return .warn(
                "diskSync", "cannot write in \(path): \(Self.reason)",
                advice: "run this as the service's user to have it measured")
        }
        defer { close(descriptor) }
        unlink(name)
        let block = [UInt8](repeating: 0xA5, count: Self.blockSize)
        var times: [Int64] = []
        let begun = ContinuousClock.now
        while times.count < Self.syncsMax, ContinuousClock.now - begun < Self.syncTimeMax {
            let start = ContinuousClock.now
            guard write(descriptor, block, block.count) == block.count, fdatasync(descriptor) == 0 else {
                return .fail(
                    "diskSync", "cannot write and sync in \(path): \(Self.reason)", advice: "look at `dmesg`")
            }
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            times.append(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        }
        return Self.sync(times)
    }

    /// - Parameter times: microseconds of each write with its sync; at least one.
    static func sync(_ times: [Int64]) -> DoctorFinding {
        let sorted = times.sorted()
        guard let longest = sorted.last else {
            return .warn("diskSync", "nothing was measured", advice: "try again")
        }
        let median = sorted[(sorted.count - 1) / 2]
        let figures: RawObject = [
            "unit": .string("us"), "count": .integer(times.count), "p50": .integer(median), "max": .integer(longest),
        ]
        func shown(_ time: Int64) -> String { time < 100 ? "\(time) µs" : SpanText.text(time, microseconds: true) }
        let text = "a commit waits \(shown(median)) for the disk, \(shown(longest)) at most (of \(times.count))"
        if median > tooSlowSync || median > slowSync {
            let advice =
                "use a faster disk (an SSD with power-loss protection), or --sync normal where a loss is bearable"
            return median > tooSlowSync
                ? .fail("diskSync", text, advice: advice, figures) : .warn("diskSync", text, advice: advice, figures)
        }
        if median < implausibleSync {
            return .warn(
                "diskSync", text,
                advice: "no disk is that fast: what it says to have kept may not survive loss of power",
                figures)
        }
        return .ok("diskSync", text, figures)
    }

    private static var reason: String { String(cString: strerror(errno)) }
}

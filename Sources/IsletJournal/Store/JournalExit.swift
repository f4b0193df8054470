import Glibc

/// How a process ends that cannot keep its promise.
package enum JournalExit {
    /// The exit code after a commit or a checkpoint that failed (sysexits: EX_IOERR). What is on the disk is unknown
    /// then, and the kernel may have thrown away what it could not write: only reading everything again helps.
    package static let commitFailed: Int32 = 74

    /// Says why, and ends the process at once.
    package static func leave(_ reason: String) -> Never {
        warn(reason)
        _exit(commitFailed)
    }

    /// A line on standard error, in one call.
    package static func warn(_ line: String) {
        let bytes = Array("islet: \(line)\n".utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}

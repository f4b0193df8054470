import Glibc

/// How much room the journal's files take, and how much is left on their disk.
package struct JournalRoom: Equatable, Sendable {
    package var used: Int
    package var free: Int

    /// At most this many files are looked at.
    private static let maximumFiles = 65_536

    /// Looks at the files of a directory, not at directories below it; nil where it cannot be read.
    package init?(directory: String) {
        guard let entries = opendir(directory) else { return nil }
        defer { closedir(entries) }
        let descriptor = dirfd(entries)
        var used = 0
        for _ in 0..<Self.maximumFiles {
            guard let entry = readdir(entries) else { break }
            var status = stat()
            let isKnown = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) {
                    fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) == 0
                }
            }
            if isKnown, status.st_mode & S_IFMT == S_IFREG { used += Int(status.st_blocks) * 512 }
        }
        var disk = statvfs()
        guard fstatvfs(descriptor, &disk) == 0 else { return nil }
        self.used = used
        free = Int(disk.f_bavail) * Int(disk.f_frsize)
    }
}

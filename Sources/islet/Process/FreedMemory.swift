import CSQLiteMemory
import CSystemInfo

/// What becomes of memory that was freed: nearly all goes back to the system.
enum FreedMemory {
    /// Of each arena's end, so many bytes are kept.
    private static let kept: Int32 = 512 << 10

    /// Lets it go back to the system, but for the one block that SQLite needs for each large row.
    ///
    /// By itself, glibc keeps as much as twice the largest buffer that was ever freed, up to 64 MiB in each arena: with a
    /// million activities 45 MB were free and resident, now 10.
    ///
    /// The price is that every large block comes anew from the system, page by page, as glibc raises no limit any more by
    /// itself. The service uses its buffers again and again; SQLite is made to (`sqlite_memory.h`).
    static func goesBack() {
        mallopt(M_TRIM_THRESHOLD, kept)
        // A SQLite that refuses takes its blocks from the system as ever.
        _ = islet_sqlite_keeps_large_block()
    }
}

import Glibc

/// The files and connections that this process may have open.
enum OpenFiles {
    /// Where the system does not say it is what it mostly is.
    static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        return Int(clamping: limit.rlim_cur)
    }
}

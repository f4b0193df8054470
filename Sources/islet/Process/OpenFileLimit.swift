import Glibc

/// How many files and connections a process may have open, together.
struct OpenFileLimit: Equatable {
    /// What holds as long as nobody raises it: shells and systemd begin with 1 024.
    let soft: UInt64
    /// How far the process may raise it by itself.
    let hard: UInt64
    /// As in the unit file: 1 024 connections, the segments that stay open (three files each), and plenty.
    static let wanted: UInt64 = 65_536

    /// What a service has that was started with this.
    var forService: UInt64 { max(soft, min(hard, Self.wanted)) }

    /// This process's; nil where the system does not say.
    static var current: OpenFileLimit? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return OpenFileLimit(soft: UInt64(limit.rlim_cur), hard: UInt64(limit.rlim_max))
    }

    /// Lets this process have as many as a service wants, or as it may.
    ///
    /// With the usual 1 024 the contract's 1 024 connections would leave the journal no file to begin a segment with.
    static func raise() {
        guard let current, current.forService > current.soft else { return }
        var limit = rlimit(rlim_cur: rlim_t(current.forService), rlim_max: rlim_t(current.hard))
        // A system that refuses leaves the service with what it has, of which `islet doctor` warns.
        _ = setrlimit(resource, &limit)
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}

import IsletOracle

/// The end of a process, and the next one.
extension Simulation {
    /// Whether what was done must be in a batch: a durable journal can be asked for it.
    static let isStrict = false

    func crash(_ kind: SimDisk.Crash) throws {}

    func restartCleanly() throws {}
}

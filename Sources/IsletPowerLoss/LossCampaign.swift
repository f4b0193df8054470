import Glibc
import Synchronization

/// Many lives, one after another, until there were so many losses of power.
package struct LossCampaign: Sendable {
    package var seed: UInt64
    package var powerLosses: Int
    /// For the proof that the disk really loses something.
    package var ignoresSyncs = false
    /// For the proof that reads are judged.
    package var spoiledReads: SpoiledReads?
    /// Where folders are made.
    package var directory: String
    /// Whether the folders of a life that was not well stay, to be looked into.
    package var keepsFailures = true

    package init(seed: UInt64, powerLosses: Int, directory: String = LossCampaign.temporaryDirectory) {
        self.seed = seed
        self.powerLosses = powerLosses
        self.directory = directory
    }

    /// Why a life was not well.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package var seed: UInt64
        package var message: String

        package var description: String { "seed \(seed): \(message.prefix(2_000))" }
    }

    /// Memory where there is some: the model decides what is durable, so the files themselves need not be.
    package static var temporaryDirectory: String {
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    }

    /// Lives with the seeds from the campaign's on.
    package func run(_ each: (LossTally) -> Void = { _ in }) async throws(Failure) -> LossTally {
        var total = LossTally()
        var next = seed
        while total.powerLosses < powerLosses {
            do {
                total.add(try await live(next))
            } catch {
                throw Failure(seed: next, message: "\(error)")
            }
            next &+= 1
            each(total)
        }
        return total
    }

    private static let count = Atomic<Int>(0)

    /// The names in a folder; none where there is none.
    static func names(in path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // A name ends with a zero within the entry, which lasts until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func remove(_ path: String) {
        for name in names(in: path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        rmdir(path)
    }

    private func live(_ seed: UInt64) async throws -> LossTally {
        try await Self.inFolder(of: directory, keepsFailures: keepsFailures) { folder in
            var life = Life(seed: seed, directory: folder) { plan in
                (plan.ignoresSyncs, plan.spoiledReads) = (ignoresSyncs, spoiledReads)
            }
            do {
                try await life.live()
            } catch {
                throw LifeFailure("\(error)\n\(life.plan)\n\(life.history.joined(separator: "\n"))")
            }
            return life.tally
        }
    }

    /// Lends a new folder, and removes it unless it is to be looked into.
    static func inFolder(
        of directory: String, keepsFailures: Bool, _ body: (_ folder: String) async throws -> LossTally
    ) async throws -> LossTally {
        let folder = "\(directory)/islet-power-\(getpid())-\(Self.count.add(1, ordering: .relaxed).newValue)"
        guard mkdir(folder, 0o700) == 0 else { throw LifeFailure("cannot make \(folder): error \(errno)") }
        do {
            let tally = try await body(folder)
            remove(folder)
            return tally
        } catch {
            if !keepsFailures { remove(folder) }
            throw LifeFailure("\(error)\nin \(folder)")
        }
    }
}

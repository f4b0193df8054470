/// How much was lived through.
package struct LossTally: Sendable, Equatable {
    package var lives = 0
    /// Those in which something was not on the disk yet: all others could lose nothing.
    package var powerLosses = 0
    package var idlePowerLosses = 0
    package var kills = 0
    /// Power losses in which a write was there in part.
    package var torn = 0
    package var unsyncedWrites = 0
    package var lostWrites = 0
    package var tornWrites = 0
    package var lostNames = 0
    /// Batches that were committed, and folders that were opened and compared.
    package var batches = 0
    package var openings = 0
    /// Losses and kills while a folder was being opened.
    package var stoppedOpenings = 0
    package var segments = 0
    /// Reads of a journal that went on, each compared.
    package var reads = 0
    package var faults = 0
    package var fullDisks = 0

    package mutating func add(_ losses: CrashDisk.Losses) {
        if losses.unsynced > 0 || losses.names > 0 { powerLosses += 1 } else { idlePowerLosses += 1 }
        torn += losses.torn > 0 ? 1 : 0
        unsyncedWrites += losses.unsynced
        lostWrites += losses.lost
        tornWrites += losses.torn
        lostNames += losses.names
    }

    package init() {}

    mutating func add(_ other: LossTally) {
        lives += other.lives
        powerLosses += other.powerLosses
        idlePowerLosses += other.idlePowerLosses
        kills += other.kills
        torn += other.torn
        unsyncedWrites += other.unsyncedWrites
        lostWrites += other.lostWrites
        tornWrites += other.tornWrites
        lostNames += other.lostNames
        batches += other.batches
        openings += other.openings
        stoppedOpenings += other.stoppedOpenings
        segments += other.segments
        reads += other.reads
        faults += other.faults
        fullDisks += other.fullDisks
    }

    package static func + (one: LossTally, other: LossTally) -> LossTally {
        var sum = one
        sum.add(other)
        return sum
    }

    /// One line for a log.
    package func line(seed: UInt64) -> String {
        "power losses: \(powerLosses), batches: \(batches), torn: \(torn), seed: \(seed) (\(lives) lives, \(kills) kills, "
            + "\(stoppedOpenings) while opening, \(openings) folders compared, \(unsyncedWrites) writes unsynced: \(lostWrites) "
            + "lost, \(tornWrites) torn; \(lostNames) names lost, \(segments) segments, \(reads) reads, "
            + "\(idlePowerLosses) power losses with nothing to lose, \(faults) calls failed, disk full "
            + "\(fullDisks) times)"
    }

    /// One object.
    package func json(seed: UInt64, seconds: Double) -> String {
        let figures: [(String, Int)] = [
            ("lives", lives), ("powerLosses", powerLosses), ("idlePowerLosses", idlePowerLosses), ("kills", kills), ("batches", batches), ("torn", torn),
            ("openings", openings), ("stoppedOpenings", stoppedOpenings), ("unsyncedWrites", unsyncedWrites),
            ("lostWrites", lostWrites), ("tornWrites", tornWrites), ("lostNames", lostNames), ("segments", segments),
            ("reads", reads),
            ("faults", faults), ("fullDisks", fullDisks),
        ]
        return "{\"seed\":\(seed),\"seconds\":\(seconds)," + figures.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }
}

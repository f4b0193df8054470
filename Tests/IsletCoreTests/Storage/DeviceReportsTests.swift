import IsletCore
import Testing

@Suite("What devices reported")
struct DeviceReportsTests {
    @Test("it is as in a dictionary, and a round tells every device once that had changed when it began")
    func model() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        var reports = DeviceReports<Int64>()
        var (model, changed): ([[UInt8]: Int64], Set<[UInt8]>) = ([:], [])
        for _ in 0..<100 {
            for _ in 0..<random.below(200) {
                let name = Array("device-\(random.below(3_000))".utf8)
                let report = random.oneIn(3) ? nil : random.below(9)
                reports.set(report, of: name)
                model[name] = report
                changed.insert(name)
            }
            let (count, isEmpty) = (reports.count, reports.isEmpty)
            #expect(count == model.count && isEmpty == model.isEmpty, "seed \(seed)")
            for number in 0..<3_000 {
                let name = Array("device-\(number)".utf8)
                let (report, isKnown) = (reports[name], reports.contains(name))
                #expect(report == model[name] && isKnown == (model[name] != nil), "seed \(seed)")
            }
            guard random.oneIn(4) else { continue }
            var told: [[UInt8]] = []
            reports.rewind()
            while let name = reports.popNext() { told.append(name) }
            #expect(Set(told) == changed && told.count == changed.count, "seed \(seed)")
            let (isAtEnd, hasChanges) = (reports.isAtEnd, reports.hasChanges)
            #expect(isAtEnd && !hasChanges, "seed \(seed)")
            changed = []
        }
    }

    @Test("what the snapshot has is not told it, but that there is nothing any more is")
    func written() {
        var reports = DeviceReports<Void>()
        let (here, gone) = (Array("here".utf8), Array("gone".utf8))
        reports.set((), of: here, isWritten: true)
        reports.set(nil, of: gone, isWritten: true)
        let (hasHere, hasGone, hasChanges) = (reports.contains(here), reports.contains(gone), reports.hasChanges)
        #expect(hasHere && !hasGone && !hasChanges)
        // It may be in the snapshot of a process that ended, though nobody knows of it.
        reports.set(nil, of: gone)
        let count = reports.count
        reports.rewind()
        let told = [reports.popNext(), reports.popNext()]
        #expect(count == 1 && told == [gone, nil])
    }

    @Test("where there is no snapshot, a device of which there is nothing leaves nothing behind")
    func withoutSnapshot() {
        var reports = DeviceReports<Void>()
        let name = Array("phone".utf8)
        reports.set((), of: name)
        reports.set(nil, of: name, isWritten: true)
        let count = reports.count
        reports.rewind()
        let told = reports.popNext()
        #expect(count == 0 && told == nil)
    }
}

import IsletCore
import IsletServer
import Testing

/// What remains of a turn that has taken long enough.
@Suite struct TurnBudgetTests {
    /// A clock that stands unless a test moves it.
    private final class Time {
        var now: Int64 = 0
    }

    private static let perTurn = TurnBudget.commandsPerReading

    /// A service each of whose turns is over when it looks at the clock for the first time.
    private static func slow() throws -> PartitionService {
        let service = try PartitionService(clock: .system)
        let time = Time()
        service.partition.budget.clock = { time.now }
        time.now = .max / 2
        return service
    }

    private static func ping(_ req: String) -> String { #"{"op":"service.ping","req":"\#(req)"}"# }

    private static func pings(_ count: Int) -> [String] { (0..<count).map { ping("m\($0)") } }

    @Test func aMessageGoesOnInLaterTurnsBesideOthers() throws {
        let service = try Self.slow()
        let first = service.answers { partition in
            partition.take(Self.pings(4 * Self.perTurn), from: "a")
            partition.take([Self.ping("other")], from: "b")
            #expect(!partition.takesCommands)
        }
        #expect(first.isEmpty)
        var answers: [String] = []
        var turns = 0
        while answers.count < 2, turns < 20 {
            answers += service.answers { _ in }
            turns += 1
        }
        #expect(turns > 2)
        #expect(answers.map { $0.contains("other") } == [true, false])
        #expect(answers.last?.contains(#""req":"m\#(4 * Self.perTurn - 1)","ok":true"#) == true)
    }

    @Test func aTurnIsOverOnlyWhenItsTimeIs() throws {
        let service = try PartitionService(clock: .system)
        service.partition.budget.clock = { 0 }
        let answers = service.answers { $0.take(Self.pings(256)) }
        #expect(answers.count == 1)
    }

    @Test func withoutAClockAllOfAMessageIsDoneInItsTurn() throws {
        let answers = try PartitionService().answers { $0.take(Self.pings(256)) }
        #expect(answers.count == 1)
    }

    @Test func whatAProviderSaysKeepsItsPlaceBehindItsRegistration() throws {
        let service = try Self.slow()
        func register(_ id: String) -> String {
            #"{"op":"provider.register","req":"r","provider":"\#(id)","app":"com.x","kinds":[{"kind":"k","template":"toggle"}]}"#
        }
        let (known, new) = ("8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11", "8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c12")
        #expect(service.send(register(known)).contains(#""ok":true"#))
        var answers = service.answers { partition in
            partition.take(Self.pings(Self.perTurn) + [register(new)], from: "p")
            partition.take([#"{"op":"provider.drain","req":"d","provider":"\#(new)"}"#], from: "p")
            partition.take([#"{"op":"provider.leave","req":"l","provider":"\#(new)"}"#], from: "p")
        }
        #expect(answers.isEmpty)
        for _ in 0..<20 where answers.count < 3 { answers += service.answers { _ in } }
        #expect(answers.count == 3)
        for (req, answer) in zip(["r", "d", "l"], answers) {
            #expect(answer.contains(#""req":"\#(req)","ok":true"#), "\(answer)")
        }
    }

    @Test func aStopRefusesWhatRests() throws {
        let service = try Self.slow()
        _ = service.answers { $0.take(Self.pings(4 * Self.perTurn)) }
        service.partition.stop()
        var answers: [String] = []
        for _ in 0..<20 where answers.isEmpty { answers += service.answers { _ in } }
        #expect(answers.count == 1 && answers[0].contains("stopping"), "\(answers)")
    }
}

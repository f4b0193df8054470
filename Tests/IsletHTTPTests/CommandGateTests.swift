import IsletHTTP
import IsletProtocol
import Testing

struct CommandGateTests {
    private static let reading = CommandGate(canWrite: false)
    private static let writing = CommandGate(canWrite: true)

    private static func outcome(_ gate: CommandGate, _ text: String) -> CommandGate.Refusal? {
        do throws(CommandGate.Refusal) {
            try gate.check(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: OperationName.allCases)
    func everyOperationIsJudgedByWhatItMayDo(operation: OperationName) {
        let name = "\(operation.name)"
        let command = #"{"op":"\#(name)","app":"com.example.pizza"}"#
        switch operation.access {
        case .read:
            #expect(Self.outcome(Self.reading, command) == nil)
            #expect(Self.outcome(Self.writing, command) == nil)
        case .change:
            #expect(Self.outcome(Self.reading, command) == .readOnly(op: name))
            #expect(Self.outcome(Self.writing, command) == nil)
        case .connection:
            #expect(Self.outcome(Self.reading, command) == .notForOthers(op: name))
            #expect(Self.outcome(Self.writing, command) == .notForOthers(op: name))
        }
    }

    /// By the contract's own words: what starts, ends, sets or moves something is no read.
    @Test func noReadIsNamedLikeAChange() {
        let reads = OperationName.allCases.filter { $0.access == .read }.map { "\($0.name)" }
        let verbs = [
            "get", "list", "history", "explain", "preview", "kinds", "options", "timeline", "budget", "snapshot",
            "recommendations", "stack", "info", "ping", "stats", "find",
        ]
        #expect(reads.allSatisfy { name in verbs.contains { name.hasSuffix("." + $0) } })
    }

    @Test func whatTheServiceDoesNotKnowIsLeftToItsAnswer() {
        #expect(Self.outcome(Self.reading, #"{"op":"activity.gets"}"#) == nil)
    }

    @Test(
        arguments: [
            "", "{", "{}", "[]", "null", #"{"op":null}"#, #"{"op":1}"#, #"{"op":"service.ping","op":"activity.end"}"#,
            #"{"op":"service.ping","\u006fp":"activity.end"}"#, #"{"op":"service.ping"}{"op":"activity.end"}"#,
        ])
    func whatCouldBeReadInTwoWaysIsNotPassedOn(command: String) {
        #expect(Self.outcome(Self.writing, command) == .unreadable)
    }

    @Test func escapesDoNotHideAChange() {
        #expect(
            Self.outcome(Self.reading, #"{"\u006fp":"activity\u002eend"}"#) == .readOnly(op: "activity.end"))
    }

    @Test func aCommandWithoutAnAnswerIsNotPassedOn() {
        #expect(Self.outcome(Self.writing, #"{"op":"activity.end","ack":"none"}"#) == .wantsNoAnswer)
    }
}

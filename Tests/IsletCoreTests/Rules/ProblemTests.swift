import IsletCore
import Testing

/// What problems are called, which goes into answers as it stands.
@Suite struct ProblemTests {
    @Test func textsNeedNoEscapesAndAreOfOneProblemEach() {
        var texts: Set<String> = []
        for problem in Problem.allCases {
            for text in ["\(problem.text)", "\(problem.advice)", "\(problem.what)"] {
                #expect(!text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
                #expect(!text.hasSuffix(".") && text.prefix(1) == text.prefix(1).lowercased())
            }
            #expect(texts.insert("\(problem.text)").inserted)
        }
    }

    @Test func eachIsOfSomething() {
        #expect(Problem.allCases.allSatisfy { !$0.families.isEmpty })
        #expect(ProblemFamily.allCases.allSatisfy { family in
            Problem.allCases.contains { $0.families.contains(family) }
        })
    }

    @Test func theWorstComesFirst() {
        #expect(Problem.Severity.allCases.sorted() == [.critical, .warning, .notice])
        #expect(Problem.longOverdue.severity < Problem.overdue.severity)
        #expect(Problem.clockFarAhead.severity < Problem.clockAhead.severity)
    }
}

import IsletClient
import Testing
import islet

private let place = ScenarioPlace(line: 3, column: 5)

private func report(_ failure: ScenarioFailure?) -> ScenarioReport {
    ScenarioReport(
        [
            ScenarioResult(
                name: "a & b", path: "s.yaml", place: ScenarioPlace(line: 1, column: 1), steps: 2,
                duration: .milliseconds(1_250), failure: failure)
        ], duration: .milliseconds(1_300))
}

@Suite("A report of scenarios")
struct ScenarioReportTests {
    @Test("counts what passed and what failed")
    func summary() {
        #expect(report(nil).summary == "1 scenario, 1 passed, 0 failed (1.3 s)")
        #expect(
            report(ScenarioFailure(place: place, message: "no")).summary == "1 scenario, 0 passed, 1 failed (1.3 s)")
    }

    @Test("is XML that says the same")
    func junit() {
        let text = JUnitReport.text(report(ScenarioFailure(place: place, step: 2, title: "end a", message: "<no>")))
        #expect(
            text.contains("<testsuites name=\"islet scenario\" tests=\"1\" failures=\"1\" errors=\"0\" time=\"1.300\">")
        )
        #expect(text.contains("name=\"a &amp; b\" file=\"s.yaml\" line=\"1\" time=\"1.250\">"))
        #expect(
            text.contains(
                "<failure type=\"expectation\" message=\"&lt;no&gt;\">  s.yaml:3, step 2 (end a): &lt;no&gt;&#10;"))
        #expect(JUnitReport.escaped("\u{7}\"\u{1F600}\n") == "\u{FFFD}&quot;\u{1F600}&#10;")
    }

    @Test("is one JSON object")
    func json() throws {
        let json = try #require(report(ScenarioFailure(place: place, message: "no")).json.object)
        #expect(json.members.map(\.name) == ["scenarios", "passed", "failed", "duration", "results"])
        let result = try #require(json["results"]?.elements?.first?.object)
        #expect(result["duration"]?.integer == 1_250)
        #expect(result["failure"]?.object?["line"]?.integer == 3)
    }
}

import IsletFilter

/// Results as the XML that build servers read: a suite for each file, a case for each scenario.
package enum JUnitReport {
    /// The document.
    package static func text(_ report: ScenarioReport) -> String {
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites name=\"islet scenario\" tests=\"\(report.results.count)\" failures=\"\(report.failed)\" "
                + "errors=\"0\" time=\"\(seconds(report.duration))\">",
        ]
        var paths: [String] = []
        for result in report.results where !paths.contains(result.path) { paths.append(result.path) }
        for path in paths {
            let results = report.results.filter { $0.path == path }
            let time = results.reduce(Duration.zero) { $0 + $1.duration }
            lines.append(
                "  <testsuite name=\"\(escaped(path))\" tests=\"\(results.count)\" "
                    + "failures=\"\(results.count { $0.failure != nil })\" errors=\"0\" skipped=\"0\" "
                    + "time=\"\(seconds(time))\">")
            for result in results { lines += testCase(result) }
            lines.append("  </testsuite>")
        }
        return (lines + ["</testsuites>", ""]).joined(separator: "\n")
    }

    private static func testCase(_ result: ScenarioResult) -> [String] {
        let head =
            "    <testcase classname=\"\(escaped(result.path))\" name=\"\(escaped(result.name))\" "
            + "file=\"\(escaped(result.path))\" line=\"\(result.place.line)\" time=\"\(seconds(result.duration))\""
        guard let failure = result.failure else { return [head + "/>"] }
        let text = ScenarioReport.lines(result, style: Style(isOn: false)).dropFirst().joined(separator: "\n")
        return [
            head + ">",
            "      <failure type=\"expectation\" message=\"\(escaped(failure.message))\">\(escaped(text))</failure>",
            "    </testcase>",
        ]
    }

    /// With milliseconds.
    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = Span(duration).milliseconds
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    /// Text for content and attributes; what XML 1.0 cannot carry is replaced.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "&#10;"
            case "\t": result += "&#9;"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
            case _: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

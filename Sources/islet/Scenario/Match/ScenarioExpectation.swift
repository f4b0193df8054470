package import IsletClient

/// An expectation by itself, as a file has it: for tests of what fits what.
package struct ScenarioExpectation: Sendable {
    private let pattern: ScenarioPattern

    /// Reads the YAML of a pattern.
    ///
    /// - Parameter names: those that may be used with `$`.
    /// - Throws: the first thing that is wrong with it.
    package init(yaml: String, names: [String] = []) throws(ScenarioProblem) {
        pattern = try ScenarioReading.pattern(yaml, names: names)
    }

    /// What is different in a value; nil: it is not there.
    ///
    /// - Throws: a problem without a place where a name or an expression cannot be used.
    package func differences(
        from value: RawJSON?, _ scope: ScenarioScope
    ) throws(ScenarioProblem) -> [ScenarioDifference] {
        do throws(ScenarioMiss) {
            return try pattern.differences(from: value, scope)
        } catch {
            throw ScenarioProblem(path: "", place: nil, text: error.text)
        }
    }
}

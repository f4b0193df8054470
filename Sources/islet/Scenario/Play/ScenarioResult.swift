package import IsletClient

/// What became of a scenario.
package struct ScenarioResult: Sendable {
    package var name: String
    package var path: String
    package var place: ScenarioPlace
    /// How many steps were played.
    package var steps: Int
    /// In real time.
    package var duration: Duration
    /// Nil: it passed.
    package var failure: ScenarioFailure?

    package init(
        name: String, path: String, place: ScenarioPlace, steps: Int, duration: Duration, failure: ScenarioFailure?
    ) {
        self.name = name
        self.path = path
        self.place = place
        self.steps = steps
        self.duration = duration
        self.failure = failure
    }
}

/// Why a scenario failed, and what may explain it.
package struct ScenarioFailure: Error, Sendable {
    /// What of the file it is about.
    package var place: ScenarioPlace
    /// Counted from 1; 0: before the first.
    package var step = 0
    /// What the step does.
    package var title = ""
    /// One sentence.
    package var message: String
    package var differences: [ScenarioDifference] = []
    /// What came, as a whole: the answer, or the entity.
    package var came: RawJSON?
    /// The last events, as they were published.
    package var events: [RawJSON] = []
    /// The same as lines for people.
    package var eventLines: [String] = []
    /// Why the entity is as it is, in lines for people.
    package var explanation: [String] = []
    /// What the entity is called.
    package var entity: String?

    package init(
        place: ScenarioPlace, step: Int = 0, title: String = "", message: String,
        differences: [ScenarioDifference] = [], came: RawJSON? = nil
    ) {
        self.place = place
        self.step = step
        self.title = title
        self.message = message
        self.differences = differences
        self.came = came
    }
}

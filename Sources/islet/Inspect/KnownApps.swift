import IsletClient
import IsletFilter

/// The apps that a service knows.
enum KnownApps {
    /// All that have events, by name, each with the number of its last one.
    ///
    /// - Throws: a `Failure` where there are too many, or the events' endpoint does not answer.
    static func all(_ connection: IsletConnection, timeout: Duration) async throws -> [(app: String, seq: UInt64)] {
        do throws(IsletError) {
            let apps = try await connection.apps(timeout: timeout)
            return apps.map { (app: $0.key, seq: $0.value.seq) }.sorted { $0.app < $1.app }
        } catch {
            if case .timedOut(let time, _) = error { throw unanswered(connection, after: time) }
            guard error.code == .tooMany else { throw error }
            throw tooMany("which nobody lists", "name one with --app elsewhere")
        }
    }

    /// Nobody has told which apps there are.
    static func unanswered(_ connection: IsletConnection, after time: Duration) -> Failure {
        let waited = TimeText.span(Span(time).milliseconds)
        return Failure(.unreachable, "no answer from \(connection.endpoints.events) within \(waited)")
    }

    /// A join of everything was refused.
    ///
    /// - Parameters:
    ///   - consequence: what there is not for so many.
    ///   - advice: what to do instead.
    static func tooMany(_ consequence: String, _ advice: String) -> Failure {
        Failure(.refused, "there are more than 1 000 apps, \(consequence) (tooMany): \(advice)")
    }
}

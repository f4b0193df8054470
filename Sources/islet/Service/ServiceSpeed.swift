import IsletClient

/// How many times as fast as real time a service's time runs: lateness is told in real time.
enum ServiceSpeed {
    /// What `service.info` says; 1 where that does not come, or says nothing.
    static func of(_ connection: IsletConnection) async -> Double {
        let answer = try? await connection.send(Command("service.info"), timeout: .seconds(2))
        return of(info: answer)
    }

    /// - Parameter info: the answer to `service.info`.
    static func of(info: Answer?) -> Double {
        let speed = info?["info"]?.object?["clock"]?.object?["speed"]?.double ?? 1
        return speed > 0 ? speed : 1
    }
}

import IsletClient

extension ReplayRun {
    /// How many entities are asked for together.
    private static let readsMax = 64

    /// What the target has, compared with what the recording says of each entity in the end.
    func verify() async throws -> [ReplayVerification.Difference] {
        let verification = ReplayVerification(
            times: options.times, names: options.names, isExact: options.movesClock)
        var rest = planner.entities.sorted { $0.key < $1.key }.filter(\.value.isPlanned)[...]
        var differences: [ReplayVerification.Difference] = []
        while !rest.isEmpty {
            let part = rest.prefix(Self.readsMax)
            rest = rest.dropFirst(Self.readsMax)
            for (recorded, entity) in part where entity.awaitsProvider { try await settleAtLast(recorded, entity) }
            let answers = await target.send(batch: part.map { get($0.key, $0.value) })
            for ((_, entity), answer) in zip(part, answers) {
                switch answer {
                case .success(let answer):
                    differences += verification.differences(entity, found: EntityText.entity(answer))
                case .failure(.refused): differences += verification.differences(entity, found: nil)
                case .failure(let error): throw error
                }
            }
        }
        return differences
    }

    private func settleAtLast(_ recorded: String, _ entity: ReplayedEntity) async throws {
        if let state = entity.state, !entity.isGone { try await settle(recorded, in: state) }
    }

    /// The read of a recorded entity at the target.
    func get(_ recorded: String, _ entity: ReplayedEntity) -> Command {
        var get = Command("\(entity.family.rawValue).get", app: entity.app)
        switch entity.family {
        case .activity, .control, .widget: get["id"] = .string(ids[recorded] ?? recorded)
        case .group:
            get["group"] = entity.members["group"]
            get["key"] = entity.members["key"]
        }
        return options.names.renamed(get)
    }
}

extension ReplayedEntity {
    /// Whether a provider may still have something to say about it.
    fileprivate var awaitsProvider: Bool { family == .control || family == .widget }
}

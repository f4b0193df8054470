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
        var isWaiting: Set<EntityTopic.Family> = [.control, .widget]
        while !rest.isEmpty {
            let part = rest.prefix(Self.readsMax)
            rest = rest.dropFirst(Self.readsMax)
            for (recorded, entity) in part where isWaiting.contains(entity.family) {
                guard let state = entity.state, Self.resting.contains(state) else { continue }
                // A provider that has not answered one in time is not waited for again.
                if try await !settle(recorded, in: state) { isWaiting.remove(entity.family) }
            }
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

/// What a seed does, from the first step to the last, generated beforehand.
struct Script: Sendable {
    let seed: UInt64
    let mix: Mix
    var steps: [Step]

    init(seed: UInt64, steps count: Int) {
        self.seed = seed
        var random = SimRandom(seed: seed)
        mix = Mix(&random)
        steps = []
        steps.reserveCapacity(count)
        for _ in 0..<count {
            let kind = Step.Kind.allCases[random.weighted(mix.weights)]
            steps.append(Step(kind: kind, salt: random.next()))
        }
    }
}

import ArgumentParser
import IsletClient

/// A target that is named by a word, a device and an app.
protocol NamedTarget: EntityTarget {
    var target: String { get set }
    var device: String? { get set }
    var app: FamilyApp<Family> { get set }
}

extension ActivityTarget: NamedTarget {}
extension PlacedTarget: NamedTarget {}

/// One entity, or all that fit a filter.
struct EntityChoice<Target: NamedTarget>: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The \(Target.Family.noun), as for get; or several with --filter.", valueName: "name"),
        completion: .custom(Completions.names(of: Target.Family.self)))
    var target: String?

    @Option(
        help: ArgumentHelp("The device that it is on.", valueName: "device"),
        completion: .custom(Completions.devices))
    var device: String?

    @OptionGroup var filter: FilterOption<Target.Family>

    @Flag(help: "With --filter: only say which it would be.")
    var dryRun = false

    @OptionGroup var consent: ConsentOption
    @OptionGroup var app: FamilyApp<Target.Family>

    func validate() throws {
        guard (target == nil) != (filter.text == nil) else {
            throw ValidationError("name one \(Target.Family.noun), or several with --filter")
        }
        try EntityText.checkAddress(target, device: device, of: Target.Family.self)
        guard !dryRun || filter.text != nil else { throw ValidationError("--dry-run needs --filter") }
    }

    /// The one that is named; nil where there is a filter.
    var one: Target? {
        guard let target else { return nil }
        var one = Target()
        one.target = target
        one.device = device
        one.app = app
        return one
    }
}

import FoundationEssentials

/// What the buttons and toggles of a widget run, by names that renderers send with a tap.
///
/// An action runs at most once for a tap; its widget's timeline is asked for after it, free of the budget.
extension WidgetConfiguration {
    /// Runs this intent, whatever the tap's parameters are.
    public func action(_ name: String, _ intent: some AppIntent) -> some WidgetConfiguration {
        changing { definition in
            definition.actions[name] = { _ in _ = try await intent.perform() }
        }
    }

    /// Runs an intent that is read from the tap's parameters, such as the `value` of a toggle.
    ///
    ///     .action("complete", of: CompleteTaskIntent.self)    // parameters {"task":"7","value":true}
    public func action<Intent: AppIntent & Decodable>(
        _ name: String, of intent: Intent.Type
    ) -> some WidgetConfiguration {
        action(name) { parameters in
            guard let intent = PayloadCoding.decode(Intent.self, from: parameters.json) else {
                throw ProviderCallError.failed("the parameters are no \(Intent.self)")
            }
            return intent
        }
    }

    /// Runs the intent that is made of the tap's parameters.
    ///
    ///     .action("complete") { parameters in CompleteTask(store, id: parameters["task"]?.string) }
    public func action<Intent: AppIntent>(
        _ name: String, intent: @escaping @Sendable (_ parameters: RawObject) throws -> Intent
    ) -> some WidgetConfiguration {
        changing { definition in
            definition.actions[name] = { parameters in _ = try await intent(parameters).perform() }
        }
    }
}

/// A kind of control: what is declared of it, how its value is computed and what its action does.
///
/// It is a ``StaticControlConfiguration`` or an ``AppIntentControlConfiguration``, with modifiers.
public protocol ControlWidgetConfiguration: Sendable {
    /// All of it.
    var definition: ControlDefinition { get }
}

extension ControlWidgetConfiguration {
    /// The name in the gallery; without it, that on the control.
    public func displayName(_ name: String) -> some ControlWidgetConfiguration {
        changing { $0.displayName = name }
    }

    /// What it does, for the gallery.
    public func description(_ description: String) -> some ControlWidgetConfiguration {
        changing { $0.details = description }
    }

    /// Lets a person configure it when it is added.
    public func promptsForUserConfiguration(_ prompts: Bool = true) -> some ControlWidgetConfiguration {
        changing { $0.promptsForUserConfiguration = prompts }
    }

    /// After an action, asks for the values of all controls of the kind, which otherwise only the control that was
    /// tapped has.
    public func reloadsSiblings(_ reloads: Bool = true) -> some ControlWidgetConfiguration {
        changing { $0.reloadsSiblings = reloads }
    }

    /// How long the service waits: for a value (1 s where nothing is said) and for an action (10 s); 10 ms to 60 s.
    public func deadlines(value: Duration? = nil, action: Duration? = nil) -> some ControlWidgetConfiguration {
        changing {
            $0.valueDeadline = value ?? $0.valueDeadline
            $0.actionDeadline = action ?? $0.actionDeadline
        }
    }

    private func changing(_ change: (inout ControlDefinition) -> Void) -> ControlDefinition {
        var definition = definition
        change(&definition)
        return definition
    }
}

/// A control as an app declares it.
///
///     struct TorchControl: ControlWidget {
///         var body: some ControlWidgetConfiguration {
///             StaticControlConfiguration(kind: "com.example.torch", provider: TorchProvider()) { isLit in
///                 ControlWidgetToggle("Torch", isOn: isLit, action: SetTorchIntent())
///             }
///         }
///     }
public protocol ControlWidget: Sendable {
    /// What it is declared with.
    associatedtype Body: ControlWidgetConfiguration
    /// The declaration.
    var body: Body { get }
}

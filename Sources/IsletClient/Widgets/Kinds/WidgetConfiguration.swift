/// A kind of widget: what is declared of it, how its timelines are computed and what its actions do.
///
/// It is a ``StaticConfiguration`` or an ``AppIntentConfiguration``, with modifiers.
public protocol WidgetConfiguration: Sendable {
    /// All of it.
    var definition: WidgetDefinition { get }
}

/// A widget as an app declares it.
///
///     struct WeatherWidget: Widget {
///         var body: some WidgetConfiguration {
///             StaticConfiguration(kind: "com.example.weather", provider: WeatherProvider())
///                 .configurationDisplayName("Weather")
///                 .supportedFamilies([.systemSmall, .systemMedium])
///                 .action("refresh", RefreshIntent())
///         }
///     }
public protocol Widget: Sendable {
    /// What it is declared with.
    associatedtype Body: WidgetConfiguration
    /// The declaration.
    var body: Body { get }
}

extension WidgetConfiguration {
    /// The name in the gallery.
    public func configurationDisplayName(_ name: String) -> some WidgetConfiguration {
        changing { $0.displayName = name }
    }

    /// What it does, for the gallery.
    public func description(_ description: String) -> some WidgetConfiguration {
        changing { $0.details = description }
    }

    /// The sizes and places that it comes in; without this, all of them.
    public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration {
        changing { $0.families = families }
    }

    /// Lets a person configure it when it is added.
    public func promptsForUserConfiguration(_ prompts: Bool = true) -> some WidgetConfiguration {
        changing { $0.promptsForUserConfiguration = prompts }
    }

    /// How long the service waits: for a timeline (5 s where nothing is said) and for an action (10 s).
    public func deadlines(timeline: Duration? = nil, action: Duration? = nil) -> some WidgetConfiguration {
        changing {
            $0.timelineDeadline = timeline ?? $0.timelineDeadline
            $0.actionDeadline = action ?? $0.actionDeadline
        }
    }

    // MARK: What renderers need to know

    /// How it can be coloured; without this, in full colour alone.
    public func supportedRenderingModes(_ modes: [WidgetRenderingMode]) -> some WidgetConfiguration {
        changing { $0.rendering.modes = modes }
    }

    /// The parts that take the accent colour together, by names that the renderer knows; at most 16.
    public func accentedGroups(_ groups: [String]) -> some WidgetConfiguration {
        changing { $0.rendering.accentedGroups = groups }
    }

    /// Lets renderers leave its background out.
    public func containerBackgroundRemovable(_ isRemovable: Bool = true) -> some WidgetConfiguration {
        changing { $0.rendering.isContainerBackgroundRemovable = isRemovable }
    }

    /// How it can be fixed to a surface.
    public func supportedMountingStyles(_ styles: [WidgetMountingStyle]) -> some WidgetConfiguration {
        changing { $0.rendering.mountingStyles = styles }
    }

    /// What it looks to be made of.
    public func widgetTexture(_ texture: WidgetTexture) -> some WidgetConfiguration {
        changing { $0.rendering.texture = texture }
    }

    /// How much it can show.
    public func supportedLevelsOfDetail(_ levels: [WidgetLevelOfDetail]) -> some WidgetConfiguration {
        changing { $0.rendering.levelsOfDetail = levels }
    }

    /// The places beside the phone's that it comes in.
    public func supplementalFamilies(_ families: [SupplementalFamily]) -> some WidgetConfiguration {
        changing { $0.supplementalFamilies = families }
    }

    func changing(_ change: (inout WidgetDefinition) -> Void) -> WidgetDefinition {
        var definition = definition
        change(&definition)
        return definition
    }
}

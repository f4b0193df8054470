import IsletCore

extension CommandDecoder {
    /// The longest `parameters` of an action, in bytes as they were sent.
    static let maximumActionParameters = 4_096
    /// How many identifiers an entity query may name.
    static let maximumIdentifiers = 100

    func widgetAdd(_ frame: Span<UInt8>) throws(Refusal) -> WidgetAdd {
        let address = try controlKindAddress(frame)
        var add = WidgetAdd(app: address.app, kind: address.kind, family: try requiredFamily(frame))
        add.configuration = try object(.configuration)
        add.rendering = try object(.rendering)
        add.device = try text(.device, .name, frame)
        add.id = try id(.id, frame)
        return add
    }

    func widgetConfigure(_ frame: Span<UInt8>) throws(Refusal) -> WidgetConfigure {
        var configure = WidgetConfigure(address: try controlAddress(frame))
        configure.configuration = try object(.configuration)
        configure.rendering = try object(.rendering)
        guard configure.configuration != nil || configure.rendering != nil else { throw .missingField(.configuration) }
        return configure
    }

    func widgetTap(_ frame: Span<UInt8>) throws(Refusal) -> WidgetTap {
        let address = try controlAddress(frame)
        let link = try text(.link, .name, frame)
        let action = try text(.action, .name, frame)
        let parameters = try object(.parameters)
        if let link {
            if action != nil { throw .badField(.action, .notAllowedHere) }
            if parameters != nil { throw .badField(.parameters, .notAllowedHere) }
            return WidgetTap(address: address, target: .link(link))
        }
        guard let action else {
            if parameters != nil { throw .badField(.parameters, .notAllowedHere) }
            return WidgetTap(address: address, target: .widget)
        }
        if let parameters, Int(parameters.count) > Self.maximumActionParameters {
            throw .badField(.parameters, .tooLong)
        }
        return WidgetTap(address: address, target: .action(action, parameters: parameters))
    }

    func widgetList(_ frame: Span<UInt8>) throws(Refusal) -> WidgetList {
        var list = WidgetList(app: try requiredText(.app, .app, frame))
        list.kind = try text(.kind, .name, frame)
        list.family = try family(frame)
        list.device = try text(.device, .name, frame)
        list.state = try word(
            .state, frame,
            [
                "loading": .loading, "placeholder": .placeholder, "shown": .shown, "reloading": .reloading,
                "acting": .acting, "removed": .removed,
            ])
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        list.cursor = try text(.cursor, .cursor, frame)
        return list
    }

    func widgetSnapshot(_ frame: Span<UInt8>) throws(Refusal) -> WidgetSnapshot {
        var snapshot = WidgetSnapshot(kind: try controlKindAddress(frame), family: try requiredFamily(frame))
        snapshot.configuration = try object(.configuration)
        snapshot.isPreview = try flag(.isPreview) ?? false
        return snapshot
    }

    func widgetOptions(_ frame: Span<UInt8>) throws(Refusal) -> WidgetOptions {
        var options = WidgetOptions(
            address: try controlKindAddress(frame), parameter: try requiredText(.parameter, .name, frame))
        options.configuration = try object(.configuration)
        enum Query { case suggested, forIdentifiers, defaultResult }
        let query: Query? = try word(
            .query, frame,
            ["suggestedEntities": .suggested, "entitiesFor": .forIdentifiers, "defaultResult": .defaultResult])
        let identifiers = try array(.identifiers)
        if identifiers != nil, query != .forIdentifiers { throw .badField(.identifiers, .notAllowedHere) }
        switch query {
        case nil, .suggested: break
        case .defaultResult: options.query = .defaultResult
        case .forIdentifiers:
            guard let identifiers else { throw .missingField(.identifiers) }
            try checkTexts(.identifiers, identifiers, atMost: Self.maximumIdentifiers, frame)
            options.query = .entitiesFor(identifiers)
        }
        return options
    }

    func widgetInvalidateRecommendations(_ frame: Span<UInt8>) throws(Refusal) -> WidgetOperation {
        .invalidateRecommendations(
            app: try requiredText(.app, .app, frame), kind: try text(.kind, .name, frame))
    }

    func activityTap(_ frame: Span<UInt8>) throws(Refusal) -> ActivityTap {
        var tap = ActivityTap(address: try activityAddress(frame))
        tap.url = try carriedText(.url, atMost: Self.maximumURL)
        return tap
    }

    /// Checks that an array holds strings alone, and not too many of them.
    func checkTexts(
        _ field: Field, _ array: FrameRange, atMost limit: Int, _ frame: Span<UInt8>
    ) throws(Refusal) {
        var count = 0
        var areTexts = true
        do {
            try JSONScanner.scanArray(frame, at: array) { element in
                count += 1
                if element.kind != .string { areTexts = false }
            }
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        guard areTexts else { throw .badField(field, .wrongType) }
        guard count <= limit else { throw .badField(field, .tooLong) }
    }

    private func requiredFamily(_ frame: Span<UInt8>) throws(Refusal) -> WidgetFamily {
        guard let family = try family(frame) else { throw .missingField(.family) }
        return family
    }

    private func family(_ frame: Span<UInt8>) throws(Refusal) -> WidgetFamily? {
        guard let value = self[.family] else { return nil }
        guard value.kind == .string else { throw .badField(.family, .wrongType) }
        for family in WidgetFamily.allCases where value.text.equals(family.wireName, in: frame) { return family }
        throw .badField(.family, .unknownValue)
    }
}

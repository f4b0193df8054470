import IsletCore

extension CommandDecoder {
    func controlAddress(_ frame: Span<UInt8>) throws(Refusal) -> ControlAddress {
        ControlAddress(app: try requiredText(.app, .app, frame), id: try requiredID(.id, frame))
    }

    func controlKindAddress(_ frame: Span<UInt8>) throws(Refusal) -> ControlKindAddress {
        ControlKindAddress(app: try requiredText(.app, .app, frame), kind: try requiredText(.kind, .name, frame))
    }

    func controlAdd(_ frame: Span<UInt8>) throws(Refusal) -> ControlAdd {
        var add = ControlAdd(app: try requiredText(.app, .app, frame), kind: try requiredText(.kind, .name, frame))
        add.configuration = try object(.configuration)
        add.device = try text(.device, .name, frame)
        add.id = try id(.id, frame)
        return add
    }

    func controlConfigure(_ frame: Span<UInt8>) throws(Refusal) -> ControlConfigure {
        ControlConfigure(address: try controlAddress(frame), configuration: try requiredObject(.configuration))
    }

    func controlSet(_ frame: Span<UInt8>) throws(Refusal) -> ControlSet {
        let address = try controlAddress(frame)
        guard let isOn = try flag(.value) else { throw .missingField(.value) }
        return ControlSet(address: address, isOn: isOn)
    }

    func controlReload(_ frame: Span<UInt8>) throws(Refusal) -> ControlReload {
        let app = try requiredText(.app, .app, frame)
        let id = try id(.id, frame)
        let kind = try text(.kind, .name, frame)
        if let id {
            if kind != nil { throw .badField(.kind, .notAllowedHere) }
            return .one(ControlAddress(app: app, id: id))
        }
        if let kind { return .kind(ControlKindAddress(app: app, kind: kind)) }
        return .all(app: app)
    }

    func controlGet(_ frame: Span<UInt8>) throws(Refusal) -> ControlGet {
        var get = ControlGet(address: try controlAddress(frame))
        if let age = try count(.maxAge, frame) { get.maxAge = Milliseconds(age) }
        return get
    }

    func controlList(_ frame: Span<UInt8>) throws(Refusal) -> ControlList {
        var list = ControlList(app: try requiredText(.app, .app, frame))
        list.kind = try text(.kind, .name, frame)
        list.device = try text(.device, .name, frame)
        list.state = try word(
            .state, frame,
            [
                "loading": .loading, "preview": .preview, "shown": .shown, "reloading": .reloading, "acting": .acting,
                "authenticating": .authenticating, "disabled": .disabled, "removed": .removed,
            ])
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        list.cursor = try text(.cursor, .cursor, frame)
        return list
    }

    func controlOptions(_ frame: Span<UInt8>) throws(Refusal) -> ControlOptions {
        var options = ControlOptions(
            address: try controlKindAddress(frame), parameter: try requiredText(.parameter, .name, frame))
        options.configuration = try object(.configuration)
        return options
    }
}

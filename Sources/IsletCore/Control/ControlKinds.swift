/// The number of an (app, control kind) pair in the engine.
package typealias ControlKindID = DeclaredKindID

/// All control kinds.
package typealias ControlKindTable = DeclaredKindTable<ControlKindDeclaration>

extension DeclaredKind where Declaration == ControlKindDeclaration {
    /// How many controls of it have a value to ask for.
    var reloadable: Int { declaration?.hasValue == false ? 0 : placed }
}

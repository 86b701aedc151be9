/// Members that only a few descriptions have, in one object, so that other descriptions do not carry them. A description
/// with an ``AttemptScope`` and nothing else refers to the scope itself, so an observed request needs no second object.
///
/// `@unchecked Sendable`: it has no members. The subclasses say what makes theirs safe.
package class DescriptionExtra: @unchecked Sendable {
    init() {}
}

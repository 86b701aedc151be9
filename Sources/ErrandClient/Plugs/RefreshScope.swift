/// The interceptors whose refresh the present task belongs to.
package enum RefreshScope {
    @TaskLocal package static var current: Set<ObjectIdentifier> = []
}

/// A request as a group sees it.
struct GroupChild: Sendable {
    let request: AnyRequest
    /// Identifies the run that `start` begins.
    let number = AnyRequest.nextChild
    /// Starts the request; returns false where it already runs. The closure is called once, on the callback queue,
    /// after all other callbacks for the end of the request, with whether the request succeeded.
    let start: @Sendable (@escaping @Sendable (Bool) -> Void) -> Bool

    /// `keep` receives the child's result before the group is notified.
    init<C: Command>(_ request: Request<C>, keep: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void) {
        self.request = request
        start = { [number] ended in
            request.start(asChild: number) { result in
                keep(result)
                if case .success = result { ended(true) } else { ended(false) }
            }
        }
    }
}

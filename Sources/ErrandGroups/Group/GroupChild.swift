/// A request as a group sees it.
struct GroupChild: Sendable {
    let request: AnyRequest
    /// The group's name for the run that `start` begins.
    let number = AnyRequest.nextChild
    /// Starts it; false where it runs already. The closure is called once, on the callback queue, when everybody else has
    /// been told; with whether it succeeded.
    let start: @Sendable (@escaping @Sendable (Bool) -> Void) -> Bool

    /// `keep` is given what the child ended with before the group hears of it.
    init<C: Command>(_ request: Request<C>, keep: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void) {
        self.request = request
        start = { [number] told in
            request.start(asChild: number) { result in
                keep(result)
                if case .success = result { told(true) } else { told(false) }
            }
        }
    }
}

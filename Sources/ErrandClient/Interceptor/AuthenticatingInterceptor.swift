/// An interceptor whose replays are sent with a credential. The ledger of the request lists them as
/// ``Resend/authentication`` and not as ``Resend/replay``.
package protocol AuthenticatingInterceptor: StepwiseInterceptor {}

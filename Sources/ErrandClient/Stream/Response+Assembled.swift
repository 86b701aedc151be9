extension Response {
    /// A streamed response put together again: its head as it came, what was kept of its body, and what its transfer's end
    /// brought, where that brought anything.
    package func assembled(_ body: [UInt8], by end: Response? = nil) -> Response {
        var total = end?.metrics ?? metrics
        total.remoteAddress = total.remoteAddress ?? metrics.remoteAddress
        total.localAddress = total.localAddress ?? metrics.localAddress
        return Response(
            statusCode: statusCode, head: rawHead, body: body, metrics: total, trailers: end?.rawTrailers ?? [])
    }
}

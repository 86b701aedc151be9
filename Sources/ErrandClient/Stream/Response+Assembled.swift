extension Response {
    /// The complete response of a stream: its head, the kept part of its body, and what the end of its transfer added,
    /// if anything.
    package func assembled(_ body: [UInt8], by end: Response? = nil) -> Response {
        var total = end?.metrics ?? metrics
        total.remoteAddress = total.remoteAddress ?? metrics.remoteAddress
        total.localAddress = total.localAddress ?? metrics.localAddress
        return Response(
            statusCode: statusCode, head: rawHead, body: body, metrics: total, trailers: end?.rawTrailers ?? [])
    }
}

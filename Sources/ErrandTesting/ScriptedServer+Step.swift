internal import CErrandFaultServer
import Foundation

extension ScriptedServer {
    /// One action of the server on a connection.
    public enum Step: Sendable {
        /// Read the next request head. The head is already read when a path's script starts.
        case readHead
        /// Read the rest of the current request's body.
        case readBody
        /// Read the body in portions of `bytes` bytes, with a pause of `milliseconds` between them.
        case readBodySlowly(bytes: Int, milliseconds: Int)
        /// Read that many bytes from the wire, whatever they are.
        case readBytes(Int)
        /// Send text, as UTF-8.
        case send(String)
        /// Send bytes.
        case sendBytes([UInt8])
        /// Send the text that many times; `nil`: repeat until the client closes the connection.
        case sendRepeated(String, times: Int?)
        /// Send the text byte by byte, `milliseconds` apart, and repeat it until the client closes the connection.
        case drip(String, milliseconds: Int)
        /// Do nothing for that many milliseconds.
        case sleep(milliseconds: Int)
        /// Do nothing until the client closes the connection or ``ScriptedServer/release()`` is called.
        case stall
        /// Send FIN, then read until the client closes the connection too.
        case finish
        /// Close at once.
        case close
        /// Close with RST and drop unsent data.
        case reset
        /// Answer 200. The response body is the request's head and body, and `X-Connection` is the number of the
        /// connection.
        case echo
        /// Answer 200 with a gzip body that decodes to that many zero bytes; on the wire it has a thousandth of that
        /// size.
        case gzipZeros(Int)
        /// Act as a proxy, by CONNECT or by forwarding. The server connects to the port that the request names, always
        /// on loopback.
        case proxy
        /// Act as a SOCKS5 proxy to loopback. Only for the script of a connection. With a username, only these
        /// credentials are accepted. The request is recorded with the method `DOMAIN`, `IPV4` or `IPV6`, depending on
        /// how the client named the host.
        case socks5(username: String? = nil, password: String = "")
        /// Continue when a request has the right Digest credentials. Earlier requests are answered 401 with a
        /// challenge.
        case digest(username: String, password: String, sha256: Bool = false)

        private var cStep: (step: errand_fault_step, data: [UInt8]) {
            var step = errand_fault_step()
            var data: [UInt8] = []
            switch self {
            case .readHead: step.kind = ERRAND_FAULT_READ_HEAD
            case .readBody: step.kind = ERRAND_FAULT_READ_BODY
            case .readBodySlowly(let bytes, let milliseconds):
                step.kind = ERRAND_FAULT_READ_BODY
                step.count = Int64(bytes)
                step.milliseconds = UInt32(clamping: milliseconds)
            case .readBytes(let bytes):
                step.kind = ERRAND_FAULT_READ_BYTES
                step.count = Int64(bytes)
            case .send(let text):
                step.kind = ERRAND_FAULT_SEND
                data = Array(text.utf8)
            case .sendBytes(let bytes):
                step.kind = ERRAND_FAULT_SEND
                data = bytes
            case .sendRepeated(let text, let times):
                step.kind = times == 0 ? ERRAND_FAULT_SLEEP : ERRAND_FAULT_SEND
                step.count = times.map { Int64(max(0, $0)) } ?? -1
                data = Array(text.utf8)
            case .drip(let text, let milliseconds):
                step.kind = ERRAND_FAULT_SEND
                step.count = -1
                step.milliseconds = UInt32(clamping: max(1, milliseconds))
                data = Array(text.utf8)
            case .sleep(let milliseconds):
                step.kind = ERRAND_FAULT_SLEEP
                step.milliseconds = UInt32(clamping: milliseconds)
            case .stall: step.kind = ERRAND_FAULT_STALL
            case .finish: step.kind = ERRAND_FAULT_FINISH
            case .close: step.kind = ERRAND_FAULT_CLOSE
            case .reset: step.kind = ERRAND_FAULT_RESET
            case .echo: step.kind = ERRAND_FAULT_ECHO
            case .gzipZeros(let bytes):
                step.kind = ERRAND_FAULT_GZIP_ZEROS
                step.count = Int64(max(0, bytes))
            case .proxy: step.kind = ERRAND_FAULT_PROXY
            case .socks5(let username, let password):
                step.kind = ERRAND_FAULT_SOCKS5
                if let username { data = Array("\(username):\(password)".utf8) }
            case .digest(let username, let password, let sha256):
                step.kind = ERRAND_FAULT_DIGEST
                step.count = sha256 ? 1 : 0
                data = Array("\(username):\(password)".utf8)
            }
            return (step, data)
        }

        /// Calls `body` with the steps converted to C. Their data is valid only during the call; the C server copies
        /// it.
        static func withCSteps(
            _ steps: [Step], _ body: (UnsafePointer<errand_fault_step>, Int) -> Int32
        ) throws {
            let parts = steps.map(\.cStep)
            let data = parts.flatMap(\.data)
            let code = data.withUnsafeBytes { bytes in
                var offset = 0
                var converted = parts.map { part in
                    var step = part.step
                    step.length = part.data.count
                    step.data = bytes.baseAddress.map { UnsafeRawPointer($0 + offset) }
                    offset += part.data.count
                    return step
                }
                // One extra element, so that the array has an address even if there are no steps.
                converted.append(errand_fault_step())
                return converted.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { body($0, steps.count) } ?? ENOMEM
                }
            }
            if code != 0 {
                throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
            }
        }
    }
}

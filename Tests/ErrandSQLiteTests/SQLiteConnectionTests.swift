import Errand
import Glibc
import Testing

@testable import ErrandSQLite

@Suite struct SQLiteConnectionTests {
    /// A failure without a system call must not look like a full disk because an earlier call of this thread met one.
    @Test(arguments: ["no statement", "SELECT none FROM nothing"])
    func anEarlierErrorOfTheThreadIsNotThatOfAFailure(sql: String) throws {
        let folder = try CacheFolder()
        try folder.store().write(record(1), for: key(1))
        let connection = try SQLiteConnection(path: folder.path)
        errno = ENOSPC
        let failure = #expect(throws: SQLiteFailure.self) { try connection.execute(sql) }
        #expect(failure?.systemError != ENOSPC)
        errno = ENOSPC
        let other = #expect(throws: SQLiteFailure.self) { try connection.texts(sql) }
        #expect(other?.systemError != ENOSPC)
    }
}
